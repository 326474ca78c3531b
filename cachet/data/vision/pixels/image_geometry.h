#pragma once

#include "cachet/data/vision/pixels/affine_map.h"
#include "cachet/io/images/image_request.h"

namespace cachet::data {

/// In pixels from the upper left corner of the image: the first pixel's centre is (½, ½).
struct ImagePoint {
  double x = 0, y = 0;
};

struct ImageBox {
  double left = 0, top = 0, right = 0, bottom = 0;
  bool empty() const { return right <= left || bottom <= top; }
};

/// What was done to the geometry of an image: cropped, scaled, mirrored, padded, turned. Maps positions in the
/// original, such as boxes around objects, to the result and back.
struct ImageGeometry {
  io::ImageSize original, result;
  AffineMap to_original{};  // the position in the original of each position in the result

  static ImageGeometry of(const io::ImageSize& size) { return {size, size, {}}; }

  // Each is done to what the result is so far.
  void crop(const io::ImageRegion& region);  // a part that lies outside the image is padding
  void resize(const io::ImageSize& size);
  void mirror();
  void warp(const AffineMap& map);  // the size stays

  ImagePoint in_result(const ImagePoint& place) const;
  ImagePoint in_original(const ImagePoint& place) const;
  /// The least upright box around the mapped one. It may lie outside the image: see within().
  ImageBox in_result(const ImageBox& box) const;
  ImageBox in_original(const ImageBox& box) const;
};

/// The part of a box that lies in an image; empty where there is none.
ImageBox within(const ImageBox& box, const io::ImageSize& size);

}  // namespace cachet::data
