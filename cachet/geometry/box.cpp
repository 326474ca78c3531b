#include "cachet/geometry/box.h"

#include <algorithm>

namespace cachet::geometry {

Box mirrored(const Box& box, double image_width) {
  return {image_width - box.right, box.top, image_width - box.left, box.bottom};
}

Box flipped(const Box& box, double image_height) {
  return {box.left, image_height - box.bottom, box.right, image_height - box.top};
}

Box shifted(const Box& box, double right, double down) {
  return {box.left + right, box.top + down, box.right + right, box.bottom + down};
}

Box scaled(const Box& box, double horizontal, double vertical) {
  return {box.left * horizontal, box.top * vertical, box.right * horizontal, box.bottom * vertical};
}

Box clipped(const Box& box, const Size& image) {
  const auto width = static_cast<double>(image.width), height = static_cast<double>(image.height);
  return {std::clamp(box.left, 0.0, width), std::clamp(box.top, 0.0, height), std::clamp(box.right, 0.0, width),
          std::clamp(box.bottom, 0.0, height)};
}

double overlap(const SizedBox& detection, const SizedBox& truth, bool truth_is_crowd) {
  const double width = std::min(detection.x + detection.width, truth.x + truth.width) - std::max(detection.x, truth.x);
  const double height =
      std::min(detection.y + detection.height, truth.y + truth.height) - std::max(detection.y, truth.y);
  if (width <= 0 || height <= 0) return 0;
  const double shared = width * height;
  return shared / (truth_is_crowd ? detection.area() : detection.area() + truth.area() - shared);
}

}  // namespace cachet::geometry
