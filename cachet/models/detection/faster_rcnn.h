#pragma once

#include <memory>
#include <vector>

#include "cachet/models/detection/heads/feature_pyramid_network.h"
#include "cachet/models/detection/heads/roi_head.h"
#include "cachet/models/detection/object_detector.h"

namespace cachet::models {

/// The options of a detector in two stages: the first stage proposes boxes, the second stage classifies each box.
struct RegionDetectorOptions {
  FpnOptions neck{};
  RpnOptions rpn{};
  RoiHeadOptions roi{};

  int64_t classes() const { return roi.box.classes; }
  /// Return the published configurations of Faster R-CNN and Mask R-CNN for a backbone with the strides `strides`.
  /// The second stage has match_low_quality = false in Faster R-CNN, and match_low_quality = true and masks in Mask
  /// R-CNN.
  static RegionDetectorOptions faster_rcnn(const std::vector<int64_t>& strides, int64_t classes);
  static RegionDetectorOptions mask_rcnn(const std::vector<int64_t>& strides, int64_t classes);
  /// Reads the tables neck, rpn_head, roi_head and test of a `[model]` table, for a backbone with the strides
  /// `strides`.
  static RegionDetectorOptions read(const config::View& table, RegionDetectorOptions defaults,
                                    const std::vector<int64_t>& strides);
};

/// Faster R-CNN (Ren et al., arXiv 1506.01497) on a feature pyramid network over any backbone, as in mmdetection 2.13.
/// Parts: backbone, neck, rpn_head, roi_head.
class FasterRcnn : public nn::Cloneable<FasterRcnn, ObjectDetector> {
 public:
  /// Throws c10::Error if the strides of backbone, anchors and regions do not agree.
  FasterRcnn(const std::shared_ptr<FeaturePyramid>& backbone, const RegionDetectorOptions& options);

  using ObjectDetector::losses;
  AnchorTargets anchor_targets(const DetectionBatch& batch, const ImageSize& size) const override;
  DetectionLosses losses(const DetectionBatch& batch, const AnchorTargets& targets) override;
  std::vector<std::string> loss_names() const override;
  std::vector<Detections> detect(const at::Tensor& images, const std::vector<DetectionImage>& sizes,
                                 DetectionFrame frame = DetectionFrame::original) override;

  /// Returns the class scores of evenly spaced anchors. Uses at most as many anchors for each image as evaluation uses
  /// proposals. The background is the last class.
  at::Tensor box_scores(const at::Tensor& images) override;
  bool classes_exclude_each_other() const override { return true; }

  ImageShape image_shape() const override { return backbone_->image_shape(); }
  int64_t classes() const override { return options_.classes(); }
  bool outlines_objects() const override { return options_.roi.mask.has_value(); }
  FeaturePyramid& backbone() override { return *backbone_; }
  /// Gives the box head as many synthetic boxes as the maximum number of proposals, and the mask head as many as the
  /// maximum number of detections. `forward` returns the class scores of the synthetic boxes as (batch, boxes ·
  /// (classes + 1)). The loss is the sum of the losses of a training step on synthetic data.
  Trial trial(int64_t batch, const torch::TensorOptions& options) override;

  /// Returns the neck's feature maps of all levels.
  std::vector<at::Tensor> levels(const at::Tensor& images);
  /// Runs only the first stage on the feature maps `levels`.
  DenseOutputs first_stage(const std::vector<at::Tensor>& levels) const { return rpn_->forward(levels); }
  const RpnHead& rpn() const { return *rpn_; }
  const RoiHead& roi() const { return *roi_; }

 private:
  RegionDetectorOptions options_;
  nn::Submodule<FeaturePyramid> backbone_;
  nn::Submodule<FeaturePyramidNetwork> neck_;
  nn::Submodule<RpnHead> rpn_;
  nn::Submodule<RoiHead> roi_;
};

/// Mask R-CNN (He et al., arXiv 1703.06870): Faster R-CNN with masks. The additional part is roi_head.mask_head.
class MaskRcnn : public nn::Cloneable<MaskRcnn, FasterRcnn> {
 public:
  MaskRcnn(const std::shared_ptr<FeaturePyramid>& backbone, const RegionDetectorOptions& options);
};

}  // namespace cachet::models
