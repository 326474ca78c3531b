#include "cachet/models/detection/retinanet.h"

#include <ATen/ATen.h>

#include <optional>

#include "cachet/models/detection/detector_checks.h"
#include "cachet/models/detection/heads/level_strides.h"
#include "cachet/nn/cache/reset_caches.h"

namespace cachet::models {

RetinaNetOptions RetinaNetOptions::published(const std::vector<int64_t>& strides, int64_t classes) {
  RetinaNetOptions o;
  o.neck.start_level = strides.size() > 1 ? 1 : 0;
  o.neck.outputs = static_cast<int64_t>(strides.size()) - o.neck.start_level + 2;
  o.head.targets.anchors.strides = level_strides(strides, o.neck);
  o.head.classes = classes;
  return o;
}

RetinaNetOptions RetinaNetOptions::read(const config::View& table, RetinaNetOptions o,
                                        const std::vector<int64_t>& strides) {
  o.neck = FpnOptions::read(table, o.neck, static_cast<int64_t>(strides.size()));
  o.head.targets.anchors.strides = level_strides(strides, o.neck);
  o.head = RetinaHeadOptions::read(table, o.head);
  return o;
}

RetinaNet::RetinaNet(const std::shared_ptr<FeaturePyramid>& backbone, const RetinaNetOptions& options)
    : options_(options) {
  check_level_strides(backbone->feature_strides(), options_.neck, options_.head.targets.anchors.strides);
  backbone_ = register_module("backbone", backbone);
  neck_ = register_module("neck", std::make_shared<FeaturePyramidNetwork>(options_.neck, backbone->feature_channels()));
  head_ = register_module("bbox_head", std::make_shared<RetinaHead>(options_.head, options_.neck.channels));
}

DenseOutputs RetinaNet::outputs(const at::Tensor& images) {
  return head_->forward(neck_->forward(backbone_->features(images)));
}

AnchorTargets RetinaNet::anchor_targets(const DetectionBatch& batch, const ImageSize& size) const {
  check_detection_targets(batch, classes(), /*draws=*/false);
  return head_->targets(level_maps(options_.head.targets.anchors.strides, size), batch);
}

DetectionLosses RetinaNet::losses(const DetectionBatch& batch, const AnchorTargets& targets) {
  check_detection_images(batch.images, batch.sizes);
  const DenseLosses losses = head_->losses(outputs(batch.images), batch, targets);
  return {{{"loss_cls", at::stack(losses.scores).sum()}, {"loss_bbox", at::stack(losses.boxes).sum()}}, {}};
}

std::vector<Detections> RetinaNet::detect(const at::Tensor& images, const std::vector<DetectionImage>& sizes,
                                          DetectionFrame frame) {
  check_evaluates(*this);
  check_detection_images(images, sizes);
  const at::NoGradGuard no_grad;
  const DenseOutputs out = outputs(images);
  check_dense_scores(out);
  return head_->detections(out, sizes, frame);
}

at::Tensor RetinaNet::box_scores(const at::Tensor& images) {
  check_evaluates(*this);
  const at::NoGradGuard no_grad;
  const DenseOutputs out = outputs(images);
  check_dense_scores(out);
  return at::cat(out.scores, 1).flatten(0, 1);
}

Trial RetinaNet::trial(int64_t batch, const torch::TensorOptions& options) {
  nn::fill_caches(*this);
  const at::Tensor images = noise(batch, options);
  return {[this, images] { return at::cat(outputs(images).scores, 1).flatten(1); },
          [this, images, step = std::optional<DetectionBatch>()]() mutable {
            if (!step) step = synthetic_step(images);  // masks of it need values: a forward pass alone needs none
            return with_penalty(losses(*step).sum());
          }};
}

}  // namespace cachet::models
