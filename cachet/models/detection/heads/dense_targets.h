#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

#include "cachet/models/detection/boxes/anchors.h"
#include "cachet/models/detection/boxes/box_assignment.h"
#include "cachet/models/detection/boxes/box_coder.h"
#include "cachet/models/detection/boxes/box_sampling.h"

namespace cachet::models {

// What heads that look at anchors on every cell (RPN, RetinaNet) have in common.

/// The outputs of such a head for each anchor, in their order: a level's scores (B, n, classes) and deltas (B, n, 4).
struct DenseOutputs {
  std::vector<at::Tensor> scores, deltas;
  std::vector<ImageSize> maps;  // of each level
};

/// Losses of each level; what a level has no sample of is 0.
struct DenseLosses {
  std::vector<at::Tensor> scores, boxes;
};

/// A head's map (B, A·k, H, W) -> (B, H·W·A, k), in float32 at least.
at::Tensor by_anchor(const at::Tensor& map, int64_t per_cell);

/// The sizes of the maps of a pyramid's levels.
std::vector<ImageSize> sizes_of(const std::vector<at::Tensor>& levels);

struct DenseTargetOptions {
  AnchorOptions anchors{};
  AssignmentOptions assigner{};
  std::optional<SampleOptions> sampler{};  // without one all that is assigned takes part
  BoxCoderOptions coder{};
  int64_t allowed_border = -1;  // pixels that an anchor may reach beyond its image; below 0: any number
};

/// What an image has to teach at its anchors.
struct DenseSample {
  at::Tensor positives, negatives;  // (p), (q) int64, indices among all anchors, rising
  at::Tensor objects;               // (p) int64: that of each positive
  at::Tensor deltas;                // (p, 4): the target deltas of each positive
};

/// For each image of a batch. Boxes of targets are brought to the anchors' dtype.
std::vector<DenseSample> dense_samples(const LaidAnchors& anchors, const std::vector<ImageSize>& maps,
                                       const DetectionBatch& batch, const DenseTargetOptions& options);

/// The training targets of a batch's anchors. They depend on sizes, objects and priorities alone, so they are known
/// before the forward pass.
struct AnchorTargets {
  std::vector<ImageSize> maps{};  // of each level
  LaidAnchors anchors{};
  std::vector<DenseSample> samples{};  // one an image
  /// The sums of losses are divided by it. A head sets it to the count of the batch's own samples. If the batch is a
  /// part of a step, the caller may set it to the part's fraction of the step's count.
  double divisor = 0;
};

/// The sizes of the maps that levels of these strides have over images of this size: ⌈side/stride⌉.
std::vector<ImageSize> level_maps(const std::vector<int64_t>& strides, const ImageSize& images);

/// Everything but the divisor, on the device of `like` and in its dtype.
AnchorTargets lay_targets(const std::vector<ImageSize>& maps, const DetectionBatch& batch,
                          const DenseTargetOptions& options, const at::Tensor& like);

/// Throws c10::Error if the targets belong to other maps or another number of images than the outputs.
void check_targets_fit(const AnchorTargets& targets, const DenseOutputs& outputs);

/// The outputs of a head for an image's anchors of one level.
struct LevelOfImage {
  at::Tensor scores, deltas, anchors;  // (n, classes) or (n), (n, 4), (n, 4)

  /// The outputs of the `most` anchors with the largest `sureness` (n), equal ones in their order; all for `most` below
  /// 1.
  LevelOfImage surest(const at::Tensor& sureness, int64_t most) const;
};

/// Anchors of an image that lie in one level, as indices of that level, and which of them these are.
struct InLevel {
  at::Tensor indices, which;
};
InLevel in_level(const at::Tensor& indices, const std::vector<int64_t>& counts, size_t level);

}  // namespace cachet::models
