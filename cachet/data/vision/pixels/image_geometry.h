#pragma once

#include "cachet/data/vision/pixels/affine_map.h"
#include "cachet/io/images/image_request.h"

namespace cachet::data {

/// A point in pixels from the upper left corner of the image. The centre of the first pixel is (½, ½).
struct ImagePoint {
  double x = 0, y = 0;
};

struct ImageBox {
  double left = 0, top = 0, right = 0, bottom = 0;
  bool empty() const { return right <= left || bottom <= top; }
};

/// The geometric changes of an image: crop, scaling, mirroring, padding and rotation. Maps positions in the original
/// image, such as boxes around objects, to positions in the result, and back.
struct ImageGeometry {
  io::ImageSize original, result;
  AffineMap to_original{};  // maps each position in the result to its position in the original

  static ImageGeometry of(const io::ImageSize& size) { return {size, size, {}}; }

  // Each of the following functions appends a change of the image to the changes that this object already has.
  void crop(const io::ImageRegion& region);  // parts outside the image are padding
  void resize(const io::ImageSize& size);
  void mirror();
  void warp(const AffineMap& map);  // does not change the size

  ImagePoint in_result(const ImagePoint& place) const;
  ImagePoint in_original(const ImagePoint& place) const;
  /// Returns the smallest upright box around the mapped box. The returned box may exceed the image: see within().
  ImageBox in_result(const ImageBox& box) const;
  ImageBox in_original(const ImageBox& box) const;
};

/// Returns the part of a box that lies in an image. If the box lies outside the image, the returned part is empty.
ImageBox within(const ImageBox& box, const io::ImageSize& size);

}  // namespace cachet::data
