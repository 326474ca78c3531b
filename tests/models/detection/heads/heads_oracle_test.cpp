// Neck and heads compared with their fixtures: outputs, losses, gradients, proposals and detections.
#include <gtest/gtest.h>

#include "cachet/io/tensors/state_dict.h"
#include "cachet/models/detection/heads/box_head.h"
#include "cachet/models/detection/heads/feature_pyramid_network.h"
#include "cachet/models/detection/heads/mask_head.h"
#include "cachet/models/detection/heads/mask_pasting.h"
#include "cachet/models/detection/heads/retina_head.h"
#include "cachet/models/detection/heads/rpn_head.h"
#include "tests/models/detection/detection_oracle.h"

namespace cachet {
namespace {

using test::expect_exact;
using test::Oracle;

void load_part(torch::nn::Module& part, const Oracle& oracle, const std::string& prefix) {
  part.to(at::kDouble);
  io::load_state_dict(part, oracle.below(prefix));
}

void expect_part_gradients(const torch::nn::Module& part, const Oracle& oracle, const std::string& prefix,
                           test::Comparison& compare) {
  for (const auto& item : part.named_parameters())
    compare.close(item.value().grad().defined() ? item.value().grad() : at::zeros_like(item.value()),
                  oracle[prefix + item.key()], prefix + item.key());
}

/// The maps <prefix>0, <prefix>1, … of the fixture.
std::vector<at::Tensor> leaves_of(const Oracle& oracle, const std::string& prefix) {
  std::vector<at::Tensor> leaves;
  while (oracle.has(prefix + std::to_string(leaves.size())))
    leaves.push_back(oracle[prefix + std::to_string(leaves.size())].clone().requires_grad_());
  EXPECT_FALSE(leaves.empty()) << oracle.name << " has no " << prefix << 0;
  return leaves;
}

/// "image0.", "image1.", …: the images of a fixture whose tensor `key` it has.
std::vector<std::string> images_with(const Oracle& oracle, const std::string& key) {
  std::vector<std::string> images;
  for (std::string image = "image0."; oracle.has(image + key); image = "image" + std::to_string(images.size()) + ".")
    images.push_back(image);
  EXPECT_FALSE(images.empty()) << oracle.name << " has no image with " << key;
  return images;
}

TEST(DetectionOracle, FeaturePyramidNetwork) {
  const Oracle oracle = test::load_oracle("det_fpn");
  for (const auto& [name, of_case] : oracle.metadata["cases"].items()) {
    test::Comparison compare(oracle.name + " " + name);
    models::FpnOptions o{.channels = of_case["out_channels"],
                         .outputs = of_case["num_outs"],
                         .start_level = of_case.value("start_level", int64_t{0})};
    const std::string extra = of_case.value("add_extra_convs", "none");
    if (extra == "on_input") o.extra = models::ExtraLevels::on_input;
    if (extra == "on_output") o.extra = models::ExtraLevels::on_output;
    o.relu_before_extra = of_case.value("relu_before_extra_convs", false);
    models::FeaturePyramidNetwork neck(o, of_case["in_channels"].get<std::vector<int64_t>>());
    load_part(neck, oracle, name + ".param.");
    const auto stages = leaves_of(oracle, "x");
    const auto levels = neck.forward(stages);
    at::Tensor loss = at::zeros({}, at::kDouble);
    for (size_t i = 0; i < levels.size(); ++i) {
      compare.close(levels[i], oracle[name + ".y" + std::to_string(i)], name + ".y" + std::to_string(i));
      loss = loss + (levels[i] * oracle[name + ".dy" + std::to_string(i)]).sum();
    }
    loss.backward();
    for (size_t i = 0; i < stages.size(); ++i)
      compare.close(stages[i].grad().defined() ? stages[i].grad() : at::zeros_like(stages[i]),
                    oracle[name + ".dx" + std::to_string(i)], name + ".dx" + std::to_string(i));
    expect_part_gradients(neck, oracle, name + ".grad.", compare);
  }
}

models::DenseTargetOptions dense_options_of(const nlohmann::json& o) {
  models::DenseTargetOptions targets{.anchors = test::anchor_options_of(o.at("anchors")),
                                     .assigner = test::assignment_options_of(o)};
  if (o.contains("num")) targets.sampler = test::sample_options_of(o, /*add_objects=*/false);
  targets.allowed_border = o.value("allowed_border", int64_t{-1});
  return targets;
}

/// Outputs as the heads' maps (B, A·k, H, W).
void expect_dense_outputs(const models::DenseOutputs& out, const Oracle& oracle, test::Comparison& compare) {
  for (size_t level = 0; level < out.maps.size(); ++level) {
    const std::string number = std::to_string(level);
    const auto [height, width] = out.maps[level];
    const auto as_map = [&](const at::Tensor& x) {
      return x.reshape({x.size(0), height, width, -1}).permute({0, 3, 1, 2});
    };
    compare.close(as_map(out.scores[level]), oracle["cls_score" + number], "cls_score" + number);
    compare.close(as_map(out.deltas[level]), oracle["bbox_pred" + number], "bbox_pred" + number);
  }
}

void expect_dense_samples(const models::DenseTargetOptions& o, const models::DenseOutputs& out,
                          const models::DetectionBatch& batch, const Oracle& oracle, const std::string& prefix,
                          test::Comparison& compare) {
  const auto laid = models::lay_anchors(o.anchors, out.maps, at::zeros({}, at::kDouble));
  const auto samples = models::dense_samples(laid, out.maps, batch, o);
  for (size_t i = 0; i < samples.size(); ++i) {
    const std::string at = prefix + "image" + std::to_string(i) + ".";
    expect_exact(samples[i].positives, oracle[at + "pos_inds"], at + "positives");
    expect_exact(samples[i].negatives, oracle[at + "neg_inds"], at + "negatives");
    expect_exact(samples[i].objects, oracle[at + "pos_assigned_gt"], at + "objects");
    compare.close(samples[i].deltas, oracle[at + "pos_targets"], at + "targets");
  }
}

TEST(DetectionOracle, RpnHead) {
  const Oracle oracle = test::load_oracle("det_rpn");
  test::Comparison compare(oracle.name);
  const auto& o = oracle.metadata["rpn"];
  models::RpnHead head({.channels = o["channels"], .targets = dense_options_of(o)}, o["channels"]);
  load_part(head, oracle, "param.");
  const auto levels = leaves_of(oracle, "x");
  const models::DenseOutputs out = head.forward(levels);
  expect_dense_outputs(out, oracle, compare);
  const auto batch = test::batch_of(oracle, {}, "");
  expect_dense_samples(head.options().targets, out, batch, oracle, "", compare);
  const models::DenseLosses losses = head.losses(out, head.targets(out.maps, batch));
  compare.close(at::stack(losses.scores), oracle["loss_rpn_cls"], "loss_rpn_cls");
  compare.close(at::stack(losses.boxes), oracle["loss_rpn_bbox"], "loss_rpn_bbox");
  (at::stack(losses.scores).sum() + at::stack(losses.boxes).sum()).backward();
  for (size_t i = 0; i < levels.size(); ++i)
    compare.close(levels[i].grad(), oracle["dx" + std::to_string(i)], "dx" + std::to_string(i));
  expect_part_gradients(head, oracle, "grad.", compare);
  for (const auto& [name, limits] : oracle.metadata["proposals"].items()) {
    const auto proposals = head.proposals(out, batch.sizes, test::proposal_limits_of(limits));
    for (size_t i = 0; i < proposals.size(); ++i)
      compare.close(test::with_scores(proposals[i].boxes, proposals[i].scores),
                    oracle["image" + std::to_string(i) + ".proposals." + name], name);
  }
}

TEST(DetectionOracle, RetinaHead) {
  const Oracle oracle = test::load_oracle("det_retina");
  test::Comparison compare(oracle.name);
  const auto &o = oracle.metadata["retina"], &test = oracle.metadata["test"];
  models::RetinaHead head({.classes = oracle.integer("classes"),
                           .channels = o["channels"],
                           .convolutions = o["stacked_convs"],
                           .targets = dense_options_of(o),
                           .class_loss = {o["gamma"], o["alpha"]},
                           .per_level = test["nms_pre"],
                           .limits = test::detection_limits_of(test)},
                          o["channels"]);
  load_part(head, oracle, "param.");
  const auto levels = leaves_of(oracle, "x");
  const models::DenseOutputs out = head.forward(levels);
  expect_dense_outputs(out, oracle, compare);
  const auto batch = test::batch_of(oracle, {}, "");
  expect_dense_samples(dense_options_of(o), out, batch, oracle, "", compare);
  const models::DenseLosses losses = head.losses(out, batch, head.targets(out.maps, batch));
  compare.close(at::stack(losses.scores), oracle["loss_cls"], "loss_cls");
  compare.close(at::stack(losses.boxes), oracle["loss_bbox"], "loss_bbox");
  (at::stack(losses.scores).sum() + at::stack(losses.boxes).sum()).backward();
  for (size_t i = 0; i < levels.size(); ++i)
    compare.close(levels[i].grad(), oracle["dx" + std::to_string(i)], "dx" + std::to_string(i));
  expect_part_gradients(head, oracle, "grad.", compare);
  for (const auto frame : {models::DetectionFrame::batch, models::DetectionFrame::original}) {
    const auto found = head.detections(out, batch.sizes, frame);
    for (size_t i = 0; i < found.size(); ++i) {
      const std::string at =
          "image" + std::to_string(i) + ".rescale" + (frame == models::DetectionFrame::original ? "1." : "0.");
      expect_exact(found[i].labels, oracle[at + "labels"], at);
      compare.close(test::with_scores(found[i].boxes, found[i].scores), oracle[at + "dets"], at);
    }
  }
}

models::BoxHeadOptions box_head_options_of(const Oracle& oracle) {
  models::BoxHeadOptions o{.classes = oracle.integer("classes"), .channels = oracle.metadata["rcnn"]["fc"]};
  for (size_t i = 0; i < 4; ++i) o.coder.deviations[i] = oracle.metadata["rcnn"]["target_stds"][i];
  return o;
}

TEST(DetectionOracle, BoxHead) {
  const Oracle oracle = test::load_oracle("det_bbox_head");
  test::Comparison compare(oracle.name);
  const models::BoxHeadOptions o = box_head_options_of(oracle);
  models::BoxHead head(o, oracle["x"][0].numel());
  load_part(head, oracle, "param.");
  for (const bool any : {true, false}) {
    const std::string prefix = any ? "" : "none.";
    head.zero_grad();
    std::vector<models::BoxSample> samples;
    std::vector<at::Tensor> labels;
    const auto numbers = [](int64_t count) { return at::arange(count, at::kLong); };
    for (const std::string& image : images_with(oracle, "pos_boxes")) {
      if (!any) break;
      const at::Tensor positives = oracle[image + "pos_boxes"], negatives = oracle[image + "neg_boxes"];
      samples.push_back({numbers(positives.size(0)), numbers(negatives.size(0)), numbers(positives.size(0)),
                         at::cat({positives, negatives}), oracle[image + "pos_gt_boxes"]});
      labels.push_back(oracle[image + "pos_gt_labels"]);
    }
    if (!any) {
      samples.push_back(
          {numbers(0), numbers(4), numbers(0), at::rand({4, 4}, at::kDouble), at::zeros({0, 4}, at::kDouble)});
      labels.push_back(numbers(0));
    }
    const models::BoxTargets targets = models::box_targets(samples, labels, o);
    const at::Tensor x = oracle[prefix + "x"].clone().requires_grad_();
    const models::BoxOutputs out = head.forward(x);
    const models::BoxHeadLosses losses = head.losses(out, targets);
    if (any) {
      compare.close(out.scores, oracle["cls_score"], "cls_score");
      compare.close(out.deltas, oracle["bbox_pred"], "bbox_pred");
      expect_exact(targets.labels, oracle["labels"], "labels");
      expect_exact(targets.positives, oracle["bbox_weights"].select(1, 0).nonzero().squeeze(1), "positives");
      compare.close(targets.deltas, oracle["bbox_targets"].index_select(0, targets.positives), "bbox_targets");
    }
    compare.close(losses.classes.view({1}), oracle[prefix + "loss_cls"], prefix + "loss_cls");
    compare.close(losses.boxes.view({1}), oracle[prefix + "loss_bbox"], prefix + "loss_bbox");
    compare.close(losses.accuracy.view({1}), oracle[prefix + "acc"], prefix + "acc");
    (losses.classes + losses.boxes).backward();
    compare.close(x.grad(), oracle[prefix + "dx"], prefix + "dx");
    expect_part_gradients(head, oracle, prefix + "grad.", compare);
  }
  models::DetectionImage place;
  place.resized = test::size_of(oracle.metadata["image"]);
  for (size_t i = 0; i < 4; ++i) place.scale[i] = oracle.metadata["scale_factor"][i];
  const models::BoxOutputs out = head.forward(oracle["test.x"]);
  compare.close(out.scores, oracle["test.cls_score"], "test.cls_score");
  for (const auto frame : {models::DetectionFrame::batch, models::DetectionFrame::original}) {
    const std::string at = std::string("test.rescale") + (frame == models::DetectionFrame::original ? "1." : "0.");
    const auto [boxes, scores] = head.decode(oracle["test.rois"].narrow(1, 1, 4), out, place, frame);
    compare.close(boxes, oracle[at + "boxes"], at + "boxes");
    const auto found = models::multiclass_nms(boxes, scores, test::detection_limits_of(oracle.metadata["test"]));
    expect_exact(found.labels, oracle[at + "labels"], at);
    compare.close(test::with_scores(found.boxes, found.scores), oracle[at + "dets"], at);
  }
}

TEST(DetectionOracle, MaskHead) {
  const Oracle oracle = test::load_oracle("det_mask_head");
  test::Comparison compare(oracle.name);
  models::MaskHead head({.classes = oracle.integer("classes"),
                         .convolutions = oracle.metadata["mask"]["convs"],
                         .channels = oracle.metadata["rcnn"]["channels"]},
                        oracle.metadata["rcnn"]["channels"]);
  load_part(head, oracle, "param.");
  std::vector<at::Tensor> targets, labels;
  for (const std::string& image : images_with(oracle, "gt_masks")) {
    targets.push_back(models::bitmap_mask_targets(oracle[image + "gt_masks"])(
        oracle[image + "pos_boxes"], oracle[image + "pos_assigned_gt"], oracle.metadata["mask"]["size"]));
    labels.push_back(oracle[image + "pos_gt_labels"]);
  }
  expect_exact(at::cat(targets), oracle["targets.bitmap"], "targets");
  const at::Tensor x = oracle["x"].clone().requires_grad_(), y = head.forward(x);
  compare.close(y, oracle["y"], "y");
  const at::Tensor loss = head.loss(y, at::cat(targets), at::cat(labels));
  compare.close(loss.view({1}), oracle["loss_mask"], "loss_mask");
  loss.backward();
  compare.close(x.grad(), oracle["dx"], "dx");
  expect_part_gradients(head, oracle, "grad.", compare);
}

TEST(DetectionOracle, PastedMasks) {
  const Oracle oracle = test::load_oracle("det_mask_head");
  const auto& paste = oracle.metadata["paste"];
  const at::Tensor scores = models::MaskHead::scores(oracle["paste.mask_pred"], oracle["paste.labels"]);
  const at::Tensor scale = at::tensor(paste["scale_factor"].get<std::vector<double>>(), at::kDouble);
  for (const bool rescale : {false, true}) {
    const auto& expected = oracle.metadata[rescale ? "rle.rescale1" : "rle.rescale0"];
    const at::Tensor boxes = rescale ? oracle["paste.boxes"] / scale : oracle["paste.boxes"];
    const at::Tensor masks =
        models::paste_masks(scores, boxes, test::size_of(expected[0]["size"]), oracle.real("mask_thr_binary"));
    for (size_t i = 0; i < expected.size(); ++i)
      expect_exact(masks[static_cast<int64_t>(i)], test::decoded_mask(expected[i]), "mask " + std::to_string(i));
  }
}

}  // namespace
}  // namespace cachet
