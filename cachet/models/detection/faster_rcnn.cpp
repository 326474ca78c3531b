#include "cachet/models/detection/faster_rcnn.h"

#include <ATen/ATen.h>

#include <optional>

#include "cachet/models/detection/detector_checks.h"
#include "cachet/models/detection/heads/level_strides.h"
#include "cachet/nn/cache/reset_caches.h"

namespace cachet::models {

RegionDetectorOptions RegionDetectorOptions::faster_rcnn(const std::vector<int64_t>& strides, int64_t classes) {
  RegionDetectorOptions o;
  o.neck.outputs = static_cast<int64_t>(strides.size()) + 1;
  o.rpn.targets.anchors.strides = level_strides(strides, o.neck);
  o.roi.extractor.strides = strides;
  o.roi.box.classes = classes;
  return o;
}

RegionDetectorOptions RegionDetectorOptions::mask_rcnn(const std::vector<int64_t>& strides, int64_t classes) {
  RegionDetectorOptions o = faster_rcnn(strides, classes);
  o.roi.assigner.match_low_quality = true;
  o.roi.mask.emplace();
  o.roi.mask->extractor.strides = strides;
  o.roi.mask->head.classes = classes;
  return o;
}

RegionDetectorOptions RegionDetectorOptions::read(const config::View& table, RegionDetectorOptions o,
                                                  const std::vector<int64_t>& strides) {
  o.neck = FpnOptions::read(table, o.neck, static_cast<int64_t>(strides.size()));
  const std::vector<int64_t> all = level_strides(strides, o.neck);
  const std::vector<int64_t> of_stages(strides.begin() + o.neck.start_level, strides.end());
  o.rpn.targets.anchors.strides = all;
  o.roi.extractor.strides = of_stages;
  if (o.roi.mask) o.roi.mask->extractor.strides = of_stages;
  o.rpn = RpnOptions::read(table, o.rpn);
  o.roi = RoiHeadOptions::read(table, o.roi);
  const auto check = [&](const char* extractor, const std::vector<int64_t>& regions) {
    if (regions.size() > all.size() || !std::equal(regions.begin(), regions.end(), all.begin()))
      table.table("roi_head")
          .table(extractor)
          .problem("featmap_strides",
                   "must be the strides of the neck's first levels, starting with the finest: " + strides_text(all));
  };
  check("bbox_roi_extractor", o.roi.extractor.strides);
  if (o.roi.mask) check("mask_roi_extractor", o.roi.mask->extractor.strides);
  return o;
}

FasterRcnn::FasterRcnn(const std::shared_ptr<FeaturePyramid>& backbone, const RegionDetectorOptions& options)
    : options_(options) {
  check_level_strides(backbone->feature_strides(), options_.neck, options_.rpn.targets.anchors.strides);
  backbone_ = register_module("backbone", backbone);
  neck_ = register_module("neck", std::make_shared<FeaturePyramidNetwork>(options_.neck, backbone->feature_channels()));
  rpn_ = register_module("rpn_head", std::make_shared<RpnHead>(options_.rpn, options_.neck.channels));
  roi_ = register_module("roi_head", std::make_shared<RoiHead>(options_.roi, options_.neck.channels));
}

std::vector<at::Tensor> FasterRcnn::levels(const at::Tensor& images) {
  return neck_->forward(backbone_->features(images));
}

AnchorTargets FasterRcnn::anchor_targets(const DetectionBatch& batch, const ImageSize& size) const {
  check_detection_targets(batch, classes(), /*draws=*/true);
  return rpn_->targets(level_maps(options_.rpn.targets.anchors.strides, size), batch);
}

DetectionLosses FasterRcnn::losses(const DetectionBatch& batch, const AnchorTargets& targets) {
  check_detection_images(batch.images, batch.sizes);
  const std::vector<at::Tensor> maps = levels(batch.images);
  const DenseOutputs first = rpn_->forward(maps);
  const DenseLosses of_first = rpn_->losses(first, targets);
  std::vector<at::Tensor> proposals;
  for (const Proposals& found : rpn_->proposals(first, batch.sizes, options_.rpn.train))
    proposals.push_back(found.boxes);
  const RoiLosses of_regions = roi_->losses(maps, roi_->samples(proposals, batch), batch);
  DetectionLosses all{{{"loss_rpn_cls", at::stack(of_first.scores).sum()},
                       {"loss_rpn_bbox", at::stack(of_first.boxes).sum()},
                       {"loss_cls", of_regions.box.classes},
                       {"loss_bbox", of_regions.box.boxes}},
                      {{"acc", of_regions.box.accuracy}}};
  if (outlines_objects()) all.losses.push_back({"loss_mask", of_regions.mask});
  return all;
}

std::vector<std::string> FasterRcnn::loss_names() const {
  std::vector<std::string> names{"loss_rpn_cls", "loss_rpn_bbox", "loss_cls", "loss_bbox"};
  if (outlines_objects()) names.emplace_back("loss_mask");
  names.emplace_back("acc");
  return names;
}

std::vector<Detections> FasterRcnn::detect(const at::Tensor& images, const std::vector<DetectionImage>& sizes,
                                           DetectionFrame frame) {
  check_evaluates(*this);
  check_detection_images(images, sizes);
  const at::NoGradGuard no_grad;
  const std::vector<at::Tensor> maps = levels(images);
  const DenseOutputs first = rpn_->forward(maps);
  check_dense_scores(first);
  std::vector<at::Tensor> proposals;
  for (const Proposals& found : rpn_->proposals(first, sizes, options_.rpn.test)) proposals.push_back(found.boxes);
  return roi_->detections(maps, proposals, sizes, frame);
}

at::Tensor FasterRcnn::box_scores(const at::Tensor& images) {
  check_evaluates(*this);
  const at::NoGradGuard no_grad;
  const std::vector<at::Tensor> maps = levels(images);
  const at::Tensor anchors = lay_anchors(options_.rpn.targets.anchors, sizes_of(maps), images).boxes;
  return roi_->box_scores(maps, evenly(anchors, options_.rpn.test.most));
}

Trial FasterRcnn::trial(int64_t batch, const torch::TensorOptions& options) {
  nn::fill_caches(*this);
  const at::Tensor images = noise(batch, options);
  const int64_t masks = std::max<int64_t>(1, options_.roi.limits.most);
  const auto run = [this, images, masks] {
    const std::vector<at::Tensor> maps = levels(images);
    const DenseOutputs first = rpn_->forward(maps);
    std::vector<at::Tensor> all = roi_->trial(maps, options_.rpn.test.most, masks);
    all.insert(all.end(), first.scores.begin(), first.scores.end());
    all.insert(all.end(), first.deltas.begin(), first.deltas.end());
    return all;
  };
  return {[run, batch] {
            return run().front().reshape({batch, -1});
          },
          [this, images, step = std::optional<DetectionBatch>()]() mutable {
            if (!step) step = synthetic_step(images);  // masks of it need values: a forward pass alone needs none
            return with_penalty(losses(*step).sum());
          }};
}

MaskRcnn::MaskRcnn(const std::shared_ptr<FeaturePyramid>& backbone, const RegionDetectorOptions& options)
    : Cloneable(backbone, options) {
  TORCH_CHECK(options.roi.mask, "mask_rcnn: the options must have a mask head");
}

}  // namespace cachet::models
