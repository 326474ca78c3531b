#pragma once

#include "cachet/models/detection/boxes/box_losses.h"
#include "cachet/models/detection/heads/dense_targets.h"
#include "cachet/models/detection/heads/head_convolution.h"

namespace cachet::models {

/// The limits by which proposals are selected from anchors.
struct ProposalLimits {
  int64_t per_level = 2000;    // maximum number of boxes per level, by score, before overlaps are removed; below 1: all
  int64_t most = 1000;         // maximum number of proposals of an image
  double iou_threshold = 0.7;  // if two boxes of a level overlap more, the box with the lower score is removed
  double least_side = 0;       // both sides of a box must be above this; below 0: any side is allowed

  /// Reads mmdetection's keys of proposals: nms_pre, max_per_img, nms_iou_threshold, min_bbox_size.
  static ProposalLimits read(const config::View& table, ProposalLimits defaults);
};

struct RpnOptions {
  int64_t channels = 256;  // width of the head's own convolution
  DenseTargetOptions targets{.sampler = SampleOptions{}};
  BoxLossOptions box_loss{};
  double score_loss_weight = 1;
  ProposalLimits train{}, test{.per_level = 1000};

  /// Reads table `rpn_head`: feat_channels, allowed_border, loss_cls.loss_weight, and the tables anchors, coder,
  /// assigner, sampler, loss_bbox, proposals (for training), test_proposals.
  static RpnOptions read(const config::View& table, RpnOptions defaults);
};

/// Boxes that may contain objects, in descending order of scores.
struct Proposals {
  at::Tensor boxes, scores;  // (n, 4), (n)
};

/// Region proposal network (Ren et al., arXiv 1506.01497, Sec. 3.1). For each anchor, the network predicts a score for
/// the presence of an object, and the object's box. Parts: rpn_conv, rpn_cls, rpn_reg.
class RpnHead : public nn::Cloneable<RpnHead> {
 public:
  RpnHead(const RpnOptions& options, int64_t inputs);

  DenseOutputs forward(const std::vector<at::Tensor>& levels) const;
  /// Returns the targets of the anchors on feature maps of the sizes `maps`. The divisor of the losses is the number of
  /// sampled anchors, plus 1 for each image without positive anchors, plus 1 for each image without negative anchors.
  AnchorTargets targets(const std::vector<ImageSize>& maps, const DetectionBatch& batch) const;
  /// Returns the losses of each level: sums over the level's samples, divided by `targets.divisor`.
  DenseLosses losses(const DenseOutputs& outputs, const AnchorTargets& targets) const;
  /// Returns the proposals of each image, without a gradient.
  std::vector<Proposals> proposals(const DenseOutputs& outputs, const std::vector<DetectionImage>& sizes,
                                   const ProposalLimits& limits) const;
  const RpnOptions& options() const { return options_; }

 private:
  RpnOptions options_;
  nn::Submodule<Convolution> shared_, scores_, deltas_;
};

}  // namespace cachet::models
