#pragma once

#include <cstdint>

namespace cachet::geometry {

/// Height and width in pixels.
struct Size {
  int64_t height = 0, width = 0;
  bool operator==(const Size&) const = default;
};

/// An upright box given by its corners, in pixels from the upper left corner of the image. The first pixel extends from
/// the coordinate 0 to the coordinate 1.
struct Box {
  double left = 0, top = 0, right = 0, bottom = 0;
  bool operator==(const Box&) const = default;

  double width() const { return right - left; }
  double height() const { return bottom - top; }
  bool empty() const { return right <= left || bottom <= top; }
};

/// A box in the form of COCO's files: its upper left corner and its size.
struct SizedBox {
  double x = 0, y = 0, width = 0, height = 0;
  bool operator==(const SizedBox&) const = default;

  double area() const { return width * height; }
};

inline Box corners(const SizedBox& box) { return {box.x, box.y, box.x + box.width, box.y + box.height}; }
inline SizedBox sized(const Box& box) { return {box.left, box.top, box.width(), box.height()}; }

/// Returns the position of a box after its image was mirrored left to right, or flipped top to bottom.
Box mirrored(const Box& box, double image_width);
Box flipped(const Box& box, double image_height);
Box shifted(const Box& box, double right, double down);
Box scaled(const Box& box, double horizontal, double vertical);
/// Returns a box cut at the image's border. A box outside the image becomes a box without area on the image's border.
Box clipped(const Box& box, const Size& image);

/// Returns the intersection over union of two boxes by COCO's rule. If the true box is a crowd (a region with many
/// objects), the intersection is divided by the area of the detection instead of the union.
double overlap(const SizedBox& detection, const SizedBox& truth, bool truth_is_crowd = false);

}  // namespace cachet::geometry
