#include "cachet/models/detection/boxes/boxes.h"

#include <ATen/ATen.h>

namespace cachet::models {
namespace {

// IoUs of a union below this are those of this union: 1e-6, as in mmdetection.
constexpr double kMinUnion = 1e-6;

at::Tensor area_of(const at::Tensor& boxes) {
  return (boxes.select(1, 2) - boxes.select(1, 0)) * (boxes.select(1, 3) - boxes.select(1, 1));
}

at::Tensor shared_area(const at::Tensor& boxes, const at::Tensor& others) {
  const auto side = [&](int64_t axis) {
    const auto low = at::maximum(boxes.select(1, axis).unsqueeze(1), others.select(1, axis).unsqueeze(0));
    const auto high = at::minimum(boxes.select(1, axis + 2).unsqueeze(1), others.select(1, axis + 2).unsqueeze(0));
    return (high - low).clamp_min(0);
  };
  return side(0) * side(1);
}

}  // namespace

at::Tensor widened(const at::Tensor& x) { return x.element_size() < 4 ? x.to(at::kFloat) : x; }

at::Tensor box_iou(const at::Tensor& boxes, const at::Tensor& others) {
  const at::Tensor shared = shared_area(boxes, others);
  const at::Tensor whole = area_of(boxes).unsqueeze(1) + area_of(others).unsqueeze(0) - shared;
  return shared / whole.clamp_min(kMinUnion);
}

at::Tensor box_share(const at::Tensor& boxes, const at::Tensor& others) {
  return shared_area(boxes, others) / area_of(boxes).unsqueeze(1).clamp_min(kMinUnion);
}

at::Tensor clip_boxes(const at::Tensor& boxes, const ImageSize& size) {
  const auto sides = boxes.unflatten(-1, {-1, 2});
  return at::stack({sides.select(-1, 0).clamp(0, size.width), sides.select(-1, 1).clamp(0, size.height)}, -1)
      .flatten(-2);
}

at::Tensor has_sides_above(const at::Tensor& boxes, double least) {
  return (boxes.select(1, 2) - boxes.select(1, 0) > least) & (boxes.select(1, 3) - boxes.select(1, 1) > least);
}

at::Tensor with_image(const at::Tensor& boxes, size_t image) {
  return at::cat({at::full({boxes.size(0), 1}, static_cast<double>(image), boxes.options()), boxes}, 1);
}

at::Tensor in_original(const at::Tensor& boxes, const DetectionImage& place) {
  const auto& scale = place.scale;
  return boxes /
         at::tensor(std::vector<double>{scale[0], scale[1], scale[2], scale[3]}, at::kDouble).to(boxes.options());
}

}  // namespace cachet::models
