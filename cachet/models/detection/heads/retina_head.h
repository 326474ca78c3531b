#pragma once

#include <vector>

#include "cachet/models/detection/boxes/box_losses.h"
#include "cachet/models/detection/boxes/multiclass_nms.h"
#include "cachet/models/detection/heads/dense_targets.h"
#include "cachet/models/detection/heads/head_convolution.h"

namespace cachet::models {

struct RetinaHeadOptions {
  int64_t classes = 80;
  int64_t channels = 256;
  int64_t convolutions = 4;  // number of convolutions before the scores; equally many come before the boxes
  DenseTargetOptions targets{.anchors = {.strides = {8, 16, 32, 64, 128}, .scales = AnchorOptions::octave(4, 3)},
                             .assigner = {.positive_iou = 0.5, .negative_iou = 0.4, .least_positive_iou = 0}};
  FocalLossOptions class_loss{};
  BoxLossOptions box_loss{};
  int64_t per_level = 1000;  // maximum number of a level's anchors that may be detections, by their best class
  DetectionLimits limits{};

  /// Reads table `bbox_head` (feat_channels, stacked_convs, allowed_border, and the tables anchors, coder, assigner,
  /// loss_cls, loss_bbox) and table `test` of the same parent: nms_pre, score_thr, nms_iou_threshold, max_per_img.
  static RetinaHeadOptions read(const config::View& table, RetinaHeadOptions defaults);
};

/// RetinaNet's head (Lin et al., arXiv 1708.02002): class scores and a box for each anchor. Parts: cls_convs,
/// reg_convs, retina_cls, retina_reg.
class RetinaHead : public nn::Cloneable<RetinaHead> {
 public:
  RetinaHead(const RetinaHeadOptions& options, int64_t inputs);

  DenseOutputs forward(const std::vector<at::Tensor>& levels) const;
  /// Returns the targets of the anchors on feature maps of the sizes `maps`. The divisor of the losses is the number of
  /// positive anchors. An image without positive anchors adds 1 to the divisor.
  AnchorTargets targets(const std::vector<ImageSize>& maps, const DetectionBatch& batch) const;
  /// Returns the losses of each level: sums over the level's anchors, divided by `targets.divisor`.
  DenseLosses losses(const DenseOutputs& outputs, const DetectionBatch& batch, const AnchorTargets& targets) const;
  std::vector<Detections> detections(const DenseOutputs& outputs, const std::vector<DetectionImage>& sizes,
                                     DetectionFrame frame) const;

 private:
  RetinaHeadOptions options_;
  std::vector<nn::Submodule<NamedConvolution>> before_classes_, before_boxes_;
  nn::Submodule<Convolution> classes_, boxes_;
};

}  // namespace cachet::models
