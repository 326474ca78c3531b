#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace cachet::models {

struct ImageSize {
  int64_t height = 0, width = 0;
};

/// The sizes of an image before and after resizing and padding. The image is resized, then padded on the right and at
/// the bottom, then padded once more to the size of the largest image of the batch.
struct DetectionImage {
  ImageSize original{}, resized{}, padded{};
  std::array<double, 4> scale{1, 1, 1, 1};  // ratio resized/original of width, height, width, height
};

/// Returns the masks of objects within boxes. boxes (k, 4) in pixels of the batch, objects (k) int64 (the object of
/// each box) -> (k, side, side) in the boxes' dtype: 1 on the object and 0 elsewhere. See mask_targets.h.
using MaskTargets = std::function<at::Tensor(const at::Tensor& boxes, const at::Tensor& objects, int64_t side)>;

/// The objects of an image. Boxes are x0 y0 x1 y1 in pixels of the batch.
struct DetectionTarget {
  at::Tensor boxes{};    // (n, 4) floating
  at::Tensor labels{};   // (n) int64, from 0
  at::Tensor ignored{};  // (m, 4), regions (crowds) that training leaves out; undefined = no regions
  MaskTargets masks{};   // set only for a detector with masks
};

/// The boxes among which a training step chooses at random: anchors or proposals.
enum class SamplingPlace { anchors, proposals };

/// Returns one random priority for each candidate of image `image` of the batch: (candidates) float64. The priorities
/// depend on the training step and the image, but on no other state of the run. The candidates with the lowest
/// priorities are chosen as training samples. See box_sampling.h.
using SamplingPriorities = std::function<at::Tensor(SamplingPlace place, size_t image, int64_t candidates)>;

/// The images of a training step.
struct DetectionBatch {
  at::Tensor images{};  // (B, C, H, W), normalised, zeros in the padding
  std::vector<DetectionImage> sizes{};
  std::vector<DetectionTarget> targets{};
  SamplingPriorities priorities{};
};

struct NamedValue {
  std::string name{};
  at::Tensor value{};  // a scalar
};

/// The values that a detector reports for a training step.
struct DetectionLosses {
  std::vector<NamedValue> losses{};    // each is a mean over the batch's samples; training differentiates their sum
  std::vector<NamedValue> measures{};  // only reported, not differentiated: "acc", per cent
  at::Tensor sum() const;
};

/// The detections on an image, in descending order of scores.
struct Detections {
  at::Tensor boxes{};        // (n, 4), x0, y0, x1, y1, in pixels of the DetectionFrame
  at::Tensor scores{};       // (n)
  at::Tensor labels{};       // (n) int64
  at::Tensor mask_scores{};  // (n, side, side), the score of each cell of a box; undefined without masks
};

/// The pixels in which boxes of detections are measured: pixels of the original image, or of the image in the batch.
enum class DetectionFrame { original, batch };

}  // namespace cachet::models
