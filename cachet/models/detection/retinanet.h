#pragma once

#include <memory>
#include <vector>

#include "cachet/models/detection/heads/feature_pyramid_network.h"
#include "cachet/models/detection/heads/retina_head.h"
#include "cachet/models/detection/object_detector.h"

namespace cachet::models {

struct RetinaNetOptions {
  FpnOptions neck{.start_level = 1, .extra = ExtraLevels::on_input};
  RetinaHeadOptions head{};

  int64_t classes() const { return head.classes; }
  /// Returns the published configuration for a backbone with the strides `strides`.
  static RetinaNetOptions published(const std::vector<int64_t>& strides, int64_t classes);
  /// Reads the tables neck, bbox_head and test of a `[model]` table, for a backbone with the strides `strides`.
  static RetinaNetOptions read(const config::View& table, RetinaNetOptions defaults,
                               const std::vector<int64_t>& strides);
};

/// RetinaNet (Lin et al., arXiv 1708.02002), as in mmdetection 2.13: a one-stage detector over any backbone. Parts:
/// backbone, neck, bbox_head.
class RetinaNet : public nn::Cloneable<RetinaNet, ObjectDetector> {
 public:
  /// Throws c10::Error if the strides of backbone and anchors do not agree.
  RetinaNet(const std::shared_ptr<FeaturePyramid>& backbone, const RetinaNetOptions& options);

  using ObjectDetector::losses;
  /// Returns the targets of all anchors. Needs no priorities.
  AnchorTargets anchor_targets(const DetectionBatch& batch, const ImageSize& size) const override;
  /// Returns loss_cls and loss_bbox.
  DetectionLosses losses(const DetectionBatch& batch, const AnchorTargets& targets) override;
  std::vector<std::string> loss_names() const override { return {"loss_cls", "loss_bbox"}; }
  std::vector<Detections> detect(const at::Tensor& images, const std::vector<DetectionImage>& sizes,
                                 DetectionFrame frame = DetectionFrame::original) override;

  at::Tensor box_scores(const at::Tensor& images) override;
  bool classes_exclude_each_other() const override { return false; }

  ImageShape image_shape() const override { return backbone_->image_shape(); }
  int64_t classes() const override { return options_.classes(); }
  bool outlines_objects() const override { return false; }
  FeaturePyramid& backbone() override { return *backbone_; }
  /// The trial's `forward` returns the class scores of all anchors (batch, anchors · classes). The loss is the sum of
  /// the losses of a training step on synthetic data.
  Trial trial(int64_t batch, const torch::TensorOptions& options) override;

  DenseOutputs outputs(const at::Tensor& images);
  const RetinaHead& head() const { return *head_; }

 private:
  RetinaNetOptions options_;
  nn::Submodule<FeaturePyramid> backbone_;
  nn::Submodule<FeaturePyramidNetwork> neck_;
  nn::Submodule<RetinaHead> head_;
};

}  // namespace cachet::models
