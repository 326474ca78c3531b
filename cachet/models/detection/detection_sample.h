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

/// How an image became its part of a batch: resized, then filled up to the right and below, then filled up once more to
/// the largest of the batch.
struct DetectionImage {
  ImageSize original{}, resized{}, padded{};
  std::array<double, 4> scale{1, 1, 1, 1};  // resized/original: width, height, width, height
};

/// What of the objects lies within boxes: boxes (k, 4), pixels of the batch, objects (k) int64, the one that each box
/// is to show -> (k, side, side), 1 where the object is and 0 elsewhere, of the boxes' dtype. See mask_targets.h.
using MaskTargets = std::function<at::Tensor(const at::Tensor& boxes, const at::Tensor& objects, int64_t side)>;

/// The objects of an image. Boxes are x0 y0 x1 y1 in pixels of the batch.
struct DetectionTarget {
  at::Tensor boxes{};    // (n, 4) floating
  at::Tensor labels{};   // (n) int64, from 0
  at::Tensor ignored{};  // (m, 4), crowds: what is on them is nothing to learn from. Undefined for none
  MaskTargets masks{};   // of a detector that outlines objects
};

/// A random choice of a training step.
enum class SamplingPlace { anchors, proposals };

/// A random choice takes the candidates of lowest priority: (candidates) float64 for image `image` of the batch, a
/// function of what the caller knows of step and image. See box_sampling.h.
using SamplingPriorities = std::function<at::Tensor(SamplingPlace place, size_t image, int64_t candidates)>;

/// Images of a training step.
struct DetectionBatch {
  at::Tensor images{};  // (B, C, H, W), normalised, zeros where an image ends
  std::vector<DetectionImage> sizes{};
  std::vector<DetectionTarget> targets{};
  SamplingPriorities priorities{};
};

struct NamedValue {
  std::string name{};
  at::Tensor value{};  // a scalar
};

/// What a detector reports of a training step.
struct DetectionLosses {
  std::vector<NamedValue> losses{};    // their sum is differentiated; each a mean over the batch's samples
  std::vector<NamedValue> measures{};  // for people: "acc", per cent
  at::Tensor sum() const;
};

/// What a detector found on an image, the surest first.
struct Detections {
  at::Tensor boxes{};        // (n, 4), x0 y0 x1 y1, pixels of the original image, or of the batch if asked
  at::Tensor scores{};       // (n)
  at::Tensor labels{};       // (n) int64
  at::Tensor mask_scores{};  // (n, side, side), the score of each cell of the box; undefined without masks
};

/// The image in whose pixels detections are measured.
enum class DetectionFrame { original, batch };

}  // namespace cachet::models
