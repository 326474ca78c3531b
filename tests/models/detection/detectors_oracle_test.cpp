// Whole detectors compared with their fixtures: losses, gradients, samples, proposals, detections and masks.
#include <gtest/gtest.h>

#include "cachet/io/tensors/names/name_source.h"
#include "cachet/models/detection/faster_rcnn.h"
#include "cachet/models/detection/heads/mask_pasting.h"
#include "cachet/models/detection/retinanet.h"
#include "cachet/models/vision/pyramid_vision_transformer.h"
#include "tests/models/detection/detection_oracle.h"
#include "tests/support/model_oracle.h"

namespace cachet {
namespace {

using models::DetectionFrame;
using test::expect_exact;
using test::Oracle;

std::shared_ptr<models::FeaturePyramid> backbone_of(const Oracle& oracle) {
  const auto& arguments = oracle.metadata["backbone"];
  models::PyramidVisionTransformerOptions o;
  o.image = {3, arguments["img_size"], arguments["img_size"]};
  o.plug_ins.attention.qkv_bias = arguments["qkv_bias"];
  for (size_t i = 0; i < arguments["embed_dims"].size(); ++i)
    o.stages.push_back({arguments["embed_dims"][i], arguments["depths"][i], arguments["num_heads"][i],
                        arguments["mlp_ratios"][i], arguments["sr_ratios"][i]});
  return std::make_shared<models::PyramidVisionTransformer>(o);
}

/// Of the backbone's stages: that of the patches, and twice that of the stage before.
std::vector<int64_t> strides_of(const Oracle& oracle) {
  const auto& arguments = oracle.metadata["backbone"];
  std::vector<int64_t> strides;
  for (size_t i = 0; i < arguments["embed_dims"].size(); ++i)
    strides.push_back(arguments["patch_size"].get<int64_t>() << i);
  return strides;
}

models::RegionDetectorOptions region_options_of(const Oracle& oracle, bool masks) {
  const auto &rpn = oracle.metadata["rpn"], &rcnn = oracle.metadata["rcnn"], &test = oracle.metadata["test"];
  const int64_t classes = oracle.integer("classes");
  auto o = masks ? models::RegionDetectorOptions::mask_rcnn(strides_of(oracle), classes)
                 : models::RegionDetectorOptions::faster_rcnn(strides_of(oracle), classes);
  o.neck.channels = o.rpn.channels = rpn["channels"];
  o.rpn.targets.anchors = test::anchor_options_of(rpn["anchors"]);
  o.rpn.targets.assigner = test::assignment_options_of(rpn);
  o.rpn.targets.sampler = test::sample_options_of(rpn, false);
  o.rpn.train = test::proposal_limits_of(oracle.metadata["proposals"]["train"]);
  o.rpn.test = test::proposal_limits_of(oracle.metadata["proposals"]["test"]);
  // The defaults have the differences between the two published configurations.
  EXPECT_EQ(o.roi.assigner.match_low_quality, rcnn["match_low_quality"].get<bool>());
  EXPECT_EQ(o.roi.assigner.positive_iou, rcnn["pos_iou_thr"].get<double>());
  o.roi.sampler = test::sample_options_of(rcnn["sampling"], true);
  o.roi.box.channels = rcnn["fc"];
  o.roi.limits = test::detection_limits_of(test);
  if (masks) o.roi.mask->head.channels = rcnn["channels"];
  return o;
}

void load_detector(models::ObjectDetector& model, const Oracle& oracle) {
  model.to(at::kDouble);
  io::load_state_dict(model, io::to_our_names(io::NameSource::mmdetection, oracle.below("param.")));
}

/// Sums of the fixture's losses by name, gradients, and their norms in the fixture's order.
void expect_training(models::ObjectDetector& model, const models::DetectionBatch& batch, const Oracle& oracle,
                     test::Comparison& compare) {
  model.train();
  const models::DetectionLosses losses = model.losses(batch);
  for (const auto& [name, value] : losses.losses)
    compare.close(value.view({1}), oracle["step0." + name].sum().view({1}), name);
  for (const auto& [name, value] : losses.measures) compare.close(value.view({1}), oracle["step0." + name], name);
  losses.sum().backward();
  const auto parameters = model.named_parameters();
  for (const auto& [name, gradient] : io::to_our_names(io::NameSource::mmdetection, oracle.below("step0.grad.")))
    compare.close(test::gradient_of(parameters[name]), gradient, name);
  io::TensorMap ours;
  for (const auto& item : parameters) ours.emplace(item.key(), test::gradient_of(item.value()));
  const io::TensorMap theirs = io::to_their_names(io::NameSource::mmdetection, ours, {});
  const auto order = oracle.metadata["parameters"].get<std::vector<std::string>>();
  EXPECT_EQ(theirs.size(), order.size());
  std::vector<at::Tensor> norms;
  for (const std::string& name : order) norms.push_back(theirs.at(name).norm());
  compare.close(at::stack(norms), oracle["step0.gradnorm"], "gradnorm");
}

/// Detections of both frames; masks where there are any.
void expect_detections(models::ObjectDetector& model, const Oracle& oracle, test::Comparison& compare) {
  model.eval();
  const auto sizes = test::image_sizes_of(oracle);
  for (const auto frame : {DetectionFrame::batch, DetectionFrame::original}) {
    const std::string rescale = frame == DetectionFrame::original ? "rescale1." : "rescale0.";
    const auto found = model.detect(oracle.step(0, "x"), sizes, frame);
    for (size_t i = 0; i < found.size(); ++i) {
      const std::string image = "image" + std::to_string(i);
      expect_exact(found[i].labels, oracle["eval0." + rescale + image + ".labels"], rescale + image);
      compare.close(test::with_scores(found[i].boxes, found[i].scores), oracle["eval0." + rescale + image + ".dets"],
                    rescale + image);
      EXPECT_EQ(found[i].mask_scores.defined(), model.outlines_objects());
      if (!model.outlines_objects()) continue;
      const auto& expected = oracle.metadata["rle." + rescale + image];
      const auto size = frame == DetectionFrame::original ? sizes[i].original : sizes[i].resized;
      const at::Tensor masks =
          models::paste_masks(found[i].mask_scores, found[i].boxes, size, oracle.real("mask_thr_binary"));
      ASSERT_EQ(static_cast<int64_t>(expected.size()), masks.size(0));
      for (size_t k = 0; k < expected.size(); ++k)
        expect_exact(masks[static_cast<int64_t>(k)], test::decoded_mask(expected[k]), rescale + image);
    }
  }
}

void expect_region_detector(models::FasterRcnn& model, const models::RegionDetectorOptions& o, const Oracle& oracle) {
  test::Comparison compare(oracle.name);
  load_detector(model, oracle);
  const auto batch = test::batch_of(oracle, oracle.step(0, "x"), "step0.");
  expect_training(model, batch, oracle, compare);
  const auto maps = model.levels(batch.images);
  const auto first = model.first_stage(maps);
  const auto proposals = model.rpn().proposals(first, batch.sizes, o.rpn.train);
  std::vector<at::Tensor> boxes;
  for (size_t i = 0; i < proposals.size(); ++i) {
    compare.close(test::with_scores(proposals[i].boxes, proposals[i].scores),
                  oracle["step0.image" + std::to_string(i) + ".proposals"], "proposals");
    boxes.push_back(proposals[i].boxes);
  }
  const auto laid = models::lay_anchors(o.rpn.targets.anchors, first.maps, at::zeros({}, at::kDouble));
  const auto anchors = models::dense_samples(laid, first.maps, batch, o.rpn.targets);
  const auto regions = model.roi().samples(boxes, batch);
  for (size_t i = 0; i < regions.size(); ++i) {
    const std::string image = "step0.image" + std::to_string(i) + ".";
    expect_exact(anchors[i].positives, oracle[image + "pos_inds"], image);
    expect_exact(anchors[i].negatives, oracle[image + "neg_inds"], image);
    compare.close(anchors[i].deltas, oracle[image + "pos_targets"], image);
    expect_exact(regions[i].positives, oracle[image + "rcnn.pos_inds"], image + "rcnn");
    expect_exact(regions[i].negatives, oracle[image + "rcnn.neg_inds"], image + "rcnn");
    expect_exact(regions[i].objects, oracle[image + "rcnn.pos_assigned_gt"], image + "rcnn");
  }
  model.eval();
  const auto in_evaluation = model.levels(batch.images);
  for (size_t i = 0; i < in_evaluation.size(); ++i)
    compare.close(in_evaluation[i].norm().view({1}), oracle["eval0.featurenorm" + std::to_string(i)], "featurenorm");
  const auto found = model.rpn().proposals(model.first_stage(in_evaluation), batch.sizes, o.rpn.test);
  for (size_t i = 0; i < found.size(); ++i)
    compare.close(test::with_scores(found[i].boxes, found[i].scores),
                  oracle["eval0.image" + std::to_string(i) + ".proposals"], "eval0.proposals");
  expect_detections(model, oracle, compare);
}

TEST(DetectorOracle, FasterRcnn) {
  const Oracle oracle = test::load_oracle("model_faster_rcnn");
  const auto o = region_options_of(oracle, false);
  models::FasterRcnn model(backbone_of(oracle), o);
  expect_region_detector(model, o, oracle);
}

TEST(DetectorOracle, MaskRcnn) {
  const Oracle oracle = test::load_oracle("model_mask_rcnn");
  const auto o = region_options_of(oracle, true);
  models::MaskRcnn model(backbone_of(oracle), o);
  expect_region_detector(model, o, oracle);
}

TEST(DetectorOracle, RetinaNet) {
  const Oracle oracle = test::load_oracle("model_retinanet");
  const auto &retina = oracle.metadata["retina"], &test = oracle.metadata["test"];
  auto o = models::RetinaNetOptions::published(strides_of(oracle), oracle.integer("classes"));
  o.neck.channels = o.head.channels = retina["channels"];
  const auto anchors = test::anchor_options_of(retina["anchors"]);
  EXPECT_EQ(o.head.targets.anchors.strides, anchors.strides);
  EXPECT_EQ(o.head.targets.anchors.scales, anchors.scales);
  o.head.targets.assigner = test::assignment_options_of(retina);
  o.head.per_level = test["nms_pre"];
  o.head.limits = test::detection_limits_of(test);
  models::RetinaNet model(backbone_of(oracle), o);
  test::Comparison compare(oracle.name);
  load_detector(model, oracle);
  const auto batch = test::batch_of(oracle, oracle.step(0, "x"), "step0.");
  expect_training(model, batch, oracle, compare);
  const auto out = model.outputs(batch.images);
  const auto laid = models::lay_anchors(anchors, out.maps, at::zeros({}, at::kDouble));
  const auto samples = models::dense_samples(laid, out.maps, batch, o.head.targets);
  for (size_t i = 0; i < samples.size(); ++i) {
    const std::string image = "step0.image" + std::to_string(i) + ".";
    expect_exact(samples[i].positives, oracle[image + "pos_inds"], image);
    expect_exact(samples[i].negatives, oracle[image + "neg_inds"], image);
    compare.close(samples[i].deltas, oracle[image + "pos_targets"], image);
  }
  expect_detections(model, oracle, compare);
}

}  // namespace
}  // namespace cachet
