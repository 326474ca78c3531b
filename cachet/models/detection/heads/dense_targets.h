#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

#include "cachet/models/detection/boxes/anchors.h"
#include "cachet/models/detection/boxes/box_assignment.h"
#include "cachet/models/detection/boxes/box_coder.h"
#include "cachet/models/detection/boxes/box_sampling.h"

namespace cachet::models {

// The common parts of heads that examine anchors at every cell (RPN, RetinaNet).

/// The outputs of a dense head in the order of its anchors: scores (B, n, classes) and deltas (B, n, 4) of each level.
struct DenseOutputs {
  std::vector<at::Tensor> scores, deltas;
  std::vector<ImageSize> maps;  // size of the map of each level
};

/// The losses of each level. The loss of a level without samples is 0.
struct DenseLosses {
  std::vector<at::Tensor> scores, boxes;
};

/// Reorders a head's map by anchors: (B, A·k, H, W) -> (B, H·W·A, k), in float32 or wider.
at::Tensor by_anchor(const at::Tensor& map, int64_t per_cell);

/// Returns the sizes of the maps of a pyramid's levels.
std::vector<ImageSize> sizes_of(const std::vector<at::Tensor>& levels);

struct DenseTargetOptions {
  AnchorOptions anchors{};
  AssignmentOptions assigner{};
  std::optional<SampleOptions> sampler{};  // without a sampler, all assigned anchors take part
  BoxCoderOptions coder{};
  int64_t allowed_border = -1;  // number of pixels by which an anchor may extend beyond its image; below 0: any
};

/// The anchors of an image that are training samples.
struct DenseSample {
  at::Tensor positives, negatives;  // (p), (q) int64, indices among all anchors, ascending
  at::Tensor objects;               // (p) int64: the object of each positive
  at::Tensor deltas;                // (p, 4): the target deltas of each positive
};

/// Returns, for each image of a batch, the anchors that are training samples. Converts the boxes of targets to the
/// anchors' dtype.
std::vector<DenseSample> dense_samples(const LaidAnchors& anchors, const std::vector<ImageSize>& maps,
                                       const DetectionBatch& batch, const DenseTargetOptions& options);

/// The training targets of a batch's anchors. The targets depend only on the sizes, objects and priorities of the
/// batch, so they can be computed before the forward pass.
struct AnchorTargets {
  std::vector<ImageSize> maps{};  // size of the map of each level
  LaidAnchors anchors{};
  std::vector<DenseSample> samples{};  // samples of each image
  /// The number by which the sums of losses are divided. A head sets `divisor` to the number of samples in its batch.
  /// If the batch is only part of a training step, the caller may set the divisor to the number of samples in the whole
  /// step, times the batch's fraction of the step.
  double divisor = 0;
};

/// Returns the sizes of the feature maps of levels with these strides for images of this size: ⌈side/stride⌉.
std::vector<ImageSize> level_maps(const std::vector<int64_t>& strides, const ImageSize& images);

/// Returns all targets except the divisor, on the device and in the dtype of `like`.
AnchorTargets lay_targets(const std::vector<ImageSize>& maps, const DetectionBatch& batch,
                          const DenseTargetOptions& options, const at::Tensor& like);

/// If the targets and the outputs belong to different maps or to different numbers of images, throws c10::Error.
void check_targets_fit(const AnchorTargets& targets, const DenseOutputs& outputs);

/// The outputs of a head for an image's anchors of one level.
struct LevelOfImage {
  at::Tensor scores, deltas, anchors;  // (n, classes) or (n), (n, 4), (n, 4)

  /// Returns the outputs of the `most` anchors with the largest `sureness` (n). Anchors with equal values of `sureness`
  /// stay in their order. If `most` is below 1, returns the outputs of all anchors.
  LevelOfImage surest(const at::Tensor& sureness, int64_t most) const;
};

/// The given anchors that lie in one level: `indices` are their indices within the level, and `which` are their
/// positions among the given anchors.
struct InLevel {
  at::Tensor indices, which;
};
InLevel in_level(const at::Tensor& indices, const std::vector<int64_t>& counts, size_t level);

}  // namespace cachet::models
