#include "cachet/models/detection/object_detector.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/stack.h>

#include <numeric>

#include "cachet/models/detection/boxes/box_sampling.h"
#include "cachet/models/detection/detector_checks.h"
#include "cachet/models/detection/heads/mask_targets.h"

namespace cachet::models {

DetectionLosses ObjectDetector::losses(const DetectionBatch& batch) {
  check_detection_images(batch.images, batch.sizes);
  return losses(batch, anchor_targets(batch, {batch.images.size(2), batch.images.size(3)}));
}

DetectionBatch ObjectDetector::synthetic_step(const at::Tensor& images) const {
  constexpr int64_t kObjects = 8;
  const ImageSize size{images.size(2), images.size(3)};
  const at::TensorOptions like = images.options().requires_grad(false);
  // Object i lies in the upper left part of column i % 4 of row i / 4 of a grid; its side grows with i.
  const at::Tensor number = at::arange(kObjects, like);
  const at::Tensor left = number.remainder(4) / 8, top = number.div(4).floor() / 2;
  const at::Tensor side = 0.125 + number * (0.375 / (kObjects - 1));
  at::Tensor boxes = at::stack({left, top, left + side, top + side}, 1);
  boxes = boxes * at::stack({at::full({}, size.width, like), at::full({}, size.height, like)}).repeat({2});
  at::Tensor bitmaps;
  if (outlines_objects()) {
    const at::Tensor x = at::arange(size.width, like), y = at::arange(size.height, like).unsqueeze(1);
    const auto edge = [&](int64_t k) { return boxes.select(1, k).view({kObjects, 1, 1}); };
    bitmaps = x.ge(edge(0)).logical_and(x.lt(edge(2))).logical_and(y.ge(edge(1))).logical_and(y.lt(edge(3)));
    bitmaps = bitmaps.to(at::kByte);
  }
  DetectionBatch step;
  step.images = images;
  std::vector<uint64_t> numbers(static_cast<size_t>(images.size(0)));
  std::iota(numbers.begin(), numbers.end(), 0);
  step.priorities = counted_priorities(/*seed=*/0, /*step=*/0, numbers);
  for (size_t i = 0; i < numbers.size(); ++i) {
    step.sizes.push_back({size, size, size, {1, 1, 1, 1}});
    DetectionTarget target;
    target.boxes = boxes;
    target.labels = at::arange(kObjects, like.dtype(at::kLong)).remainder(classes());
    if (bitmaps.defined()) target.masks = bitmap_mask_targets(bitmaps);
    step.targets.push_back(std::move(target));
  }
  return step;
}

}  // namespace cachet::models
