#include "cachet/models/detection/detector_checks.h"

#include <ATen/ATen.h>

#include "cachet/models/detection/boxes/boxes.h"
#include "cachet/ops/support/finite.h"

namespace cachet::models {

void check_dense_scores(const DenseOutputs& outputs) {
  for (const auto* levels : {&outputs.scores, &outputs.deltas})
    for (const at::Tensor& level : *levels) ops::require_finite_scores(level);
}

void check_evaluates(const torch::nn::Module& detector) {
  TORCH_CHECK(!detector.is_training(), "detector: detection needs evaluation mode; call eval() first");
}

void check_detection_images(const at::Tensor& images, const std::vector<DetectionImage>& sizes) {
  TORCH_CHECK(images.dim() == 4 && images.size(0) >= 1 && images.size(0) == static_cast<int64_t>(sizes.size()),
              "detector: images must be (B, C, H, W), with one size for each image, got ", images.sizes(), " and ",
              sizes.size(), " sizes");
  for (size_t i = 0; i < sizes.size(); ++i) {
    const auto& size = sizes[i];
    const bool fits = size.padded.height <= images.size(2) && size.padded.width <= images.size(3) &&
                      size.resized.height <= size.padded.height && size.resized.width <= size.padded.width &&
                      size.resized.height >= 1 && size.resized.width >= 1;
    TORCH_CHECK(fits, "detector: image ", i, " (resized to ", size.resized.height, " x ", size.resized.width,
                " and padded to ", size.padded.height, " x ", size.padded.width, ") does not fit in a batch of ",
                images.size(2), " x ", images.size(3));
    for (const double scale : size.scale)
      TORCH_CHECK(scale > 0, "detector: the scale of image ", i, " must be above 0, got ", scale);
  }
}

void check_detection_targets(const DetectionBatch& batch, int64_t classes, bool draws) {
  TORCH_CHECK(batch.targets.size() == batch.sizes.size(), "detector: there must be targets for each of the ",
              batch.sizes.size(), " images, got targets for ", batch.targets.size(), " images");
  TORCH_CHECK(!draws || batch.priorities,
              "detector: drawing samples needs priorities, but the batch has no priorities");
  for (size_t i = 0; i < batch.targets.size(); ++i) {
    const auto& target = batch.targets[i];
    const auto are_boxes = [](const at::Tensor& boxes) {
      return boxes.dim() == 2 && boxes.size(1) == 4 && boxes.is_floating_point();
    };
    TORCH_CHECK(target.boxes.defined() && are_boxes(target.boxes), "detector: boxes of image ", i,
                " must be floating-point (n, 4)");
    TORCH_CHECK(!target.ignored.defined() || are_boxes(target.ignored), "detector: ignored boxes of image ", i,
                " must be floating-point (n, 4), got ", target.ignored.sizes());
    TORCH_CHECK(target.labels.defined() && target.labels.dim() == 1 && target.labels.scalar_type() == at::kLong &&
                    target.labels.size(0) == target.boxes.size(0),
                "detector: labels of image ", i, " must be int64, one label for each box");
    if (target.labels.numel() == 0) continue;
    TORCH_CHECK(has_sides_above(target.boxes, 0).all().item<bool>(), "detector: a box of image ", i,
                " has no area, or a coordinate that is not a number; leave the box out");
    const auto least = target.labels.min().item<int64_t>(), most = target.labels.max().item<int64_t>();
    TORCH_CHECK(least >= 0 && most < classes, "detector: labels of image ", i, " must be from 0 to ", classes - 1,
                " (the model's last class), got labels from ", least, " to ", most);
  }
}

}  // namespace cachet::models
