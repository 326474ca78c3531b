// Operators and functions that the detectors are made of, compared with their fixtures.
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "cachet/models/detection/boxes/anchors.h"
#include "cachet/models/detection/boxes/box_coder.h"
#include "cachet/models/detection/boxes/multiclass_nms.h"
#include "cachet/models/detection/heads/roi_extractor.h"
#include "cachet/ops/detection/nms.h"
#include "cachet/ops/detection/roi_align.h"
#include "tests/models/detection/detection_oracle.h"

namespace cachet {
namespace {

using test::expect_exact;
using test::Oracle;

TEST(DetectionOracle, RoiAlign) {
  const Oracle oracle = test::load_oracle("det_roi_align");
  test::Comparison compare(oracle.name);
  for (const int64_t side : oracle.metadata["outputs"])
    for (const int64_t sampling : oracle.metadata["sampling_ratios"]) {
      const std::string name = "out" + std::to_string(side) + ".ratio" + std::to_string(sampling) + ".";
      const at::Tensor x = oracle["x"].requires_grad_();
      const at::Tensor y = ops::roi_align(x, oracle["rois"], {side, side, oracle.real("spatial_scale"), sampling});
      compare.close(y, oracle[name + "y"], name + "y");
      const auto dx = torch::autograd::grad({y}, {x}, {oracle[name + "dy"]});
      compare.close(dx[0], oracle[name + "dx"], name + "dx");
    }
}

TEST(DetectionOracle, RegionsOfThePyramid) {
  const Oracle oracle = test::load_oracle("det_roi_align");
  test::Comparison compare(oracle.name + " levels");
  models::RoiExtractorOptions o;
  o.strides = oracle.metadata["strides"].get<std::vector<int64_t>>();
  o.finest_scale = oracle.real("finest_scale");
  std::vector<at::Tensor> levels;
  for (size_t i = 0; i < o.strides.size(); ++i)
    levels.push_back(oracle["levels.x" + std::to_string(i)].requires_grad_());
  const at::Tensor boxes = oracle["levels.rois"];
  expect_exact(models::roi_levels(boxes.narrow(1, 1, 4), o), oracle["levels.level"], "levels");
  const at::Tensor y = models::extract_rois(levels, boxes, o);
  compare.close(y, oracle["levels.y"], "y");
  const auto gradients = torch::autograd::grad({y}, levels, {oracle["levels.dy"]});
  for (size_t i = 0; i < levels.size(); ++i)
    compare.close(gradients[i], oracle["levels.dx" + std::to_string(i)], "dx" + std::to_string(i));
}

TEST(DetectionOracle, Nms) {
  const Oracle oracle = test::load_oracle("det_nms");
  const auto& thresholds = oracle.metadata["iou_threshold"];
  test::Comparison compare(oracle.name);
  const auto check = [&](const std::string& boxes_of, const std::string& name,
                         const std::optional<at::Tensor>& groups) {
    const at::Tensor boxes = oracle[boxes_of + ".boxes"], scores = oracle[boxes_of + ".scores"];
    const at::Tensor kept = ops::nms_indices(boxes, scores, groups, thresholds[name]);
    expect_exact(kept, oracle[name + ".keep"], name);
    compare.close(test::with_scores(boxes.index_select(0, kept), scores.index_select(0, kept)), oracle[name + ".dets"],
                  name);
  };
  check("nms", "nms", {});
  check("nms", "nms_strict", {});
  check("ties", "ties", {});
  check("batched", "batched", oracle["batched.groups"]);
  EXPECT_EQ(ops::nms_indices(at::zeros({0, 4}), at::zeros({0}), {}, 0.5).numel(), 0);
}

TEST(DetectionOracle, MulticlassNms) {
  const Oracle oracle = test::load_oracle("det_nms");
  test::Comparison compare(oracle.name + " multiclass");
  for (const std::string name : {"multi", "multi_shared"})
    for (const bool all : {false, true}) {
      const std::string suffix = all ? "_all" : "";
      const models::Detections found =
          models::multiclass_nms(oracle[name + ".boxes"], oracle[name + ".scores"],
                                 {oracle.real("score_thr"), oracle.metadata["iou_threshold"]["multi"],
                                  all ? -1 : oracle.integer("max_per_img")});
      expect_exact(found.labels, oracle[name + ".labels" + suffix], name);
      compare.close(test::with_scores(found.boxes, found.scores), oracle[name + ".dets" + suffix], name);
    }
  const models::Detections none = models::multiclass_nms(at::rand({3, 4}), at::zeros({3, 4}), {});
  EXPECT_EQ(none.labels.numel(), 0);
}

TEST(DetectionOracle, Anchors) {
  const Oracle oracle = test::load_oracle("det_anchors");
  test::Comparison compare(oracle.name);
  for (const std::string kind : {"rpn", "retina"}) {
    const models::AnchorOptions o = test::anchor_options_of(oracle.metadata["generators"][kind]);
    for (size_t level = 0; level < o.strides.size(); ++level)
      compare.close(models::cell_anchors(o, level), oracle[kind + ".base" + std::to_string(level)], "base");
    for (size_t set = 0; set < oracle.metadata["sets"].size(); ++set) {
      const auto& of_set = oracle.metadata["sets"][set];
      const std::string name = kind + ".set" + std::to_string(set);
      std::vector<models::ImageSize> maps;
      for (const auto& sides : of_set["sizes"][kind]) maps.push_back(test::size_of(sides));
      const models::LaidAnchors laid = models::lay_anchors(o, maps, at::zeros({}, at::kDouble));
      compare.close(laid.boxes, oracle[name + ".anchors"], name);
      for (size_t image = 0; image < of_set["images"].size(); ++image) {
        const auto& of_image = of_set["images"][image];
        const std::string at = name + ".image" + std::to_string(image) + ".";
        const at::Tensor valid = models::anchors_of_image(o, maps, test::size_of(of_image["pad_shape"]), at::kCPU);
        expect_exact(valid, oracle[at + "valid"], at);
        for (const int64_t border : oracle.metadata["allowed_borders"])
          expect_exact(valid & models::anchors_inside(laid.boxes, test::size_of(of_image["img_shape"]), border),
                       oracle[at + "inside.border" + std::to_string(border)], at + std::to_string(border));
      }
    }
  }
}

TEST(DetectionOracle, BoxCoder) {
  const Oracle oracle = test::load_oracle("det_box_coder");
  test::Comparison compare(oracle.name);
  const models::ImageSize image = test::size_of(oracle.metadata["max_shape"]);
  for (const auto& [name, options] : oracle.metadata["coders"].items()) {
    models::BoxCoderOptions o;
    for (size_t i = 0; i < 4; ++i) o.means[i] = options["target_means"][i], o.deviations[i] = options["target_stds"][i];
    o.ratio_clip = oracle.real("wh_ratio_clip");
    const models::BoxCoder coder(o);
    compare.close(coder.encode(oracle["boxes"], oracle["targets"]), oracle[name + ".encoded"], name);
    const at::Tensor boxes = oracle["decode_boxes"];
    for (const std::string deltas : {"deltas", "deltas_by_class"}) {
      const std::string key = name + "." + deltas + ".decoded";
      compare.close(coder.decode(boxes, oracle[deltas], {}), oracle[key], key);
      compare.close(coder.decode(boxes, oracle[deltas], image), oracle[key + "_clipped"], key);
    }
    o.ratio_clip = oracle.real("other_wh_ratio_clip");
    compare.close(models::BoxCoder(o).decode(boxes, oracle["deltas"], {}), oracle[name + ".deltas.decoded_other_ratio"],
                  name);
    o.clip_to_image = false;
    compare.close(models::BoxCoder(o).decode(boxes, oracle["deltas"], image),
                  oracle[name + ".deltas.decoded_other_ratio"], name + " not clipped");
  }
}

TEST(DetectionOracle, Assignment) {
  const Oracle oracle = test::load_oracle("det_assign");
  test::Comparison compare(oracle.name);
  for (const auto& [name, of_case] : oracle.metadata["cases"].items()) {
    const std::string boxes = of_case["boxes"], objects = of_case["objects"];
    const int64_t ignored = of_case["ignored"];
    const models::Assignment assigned =
        models::assign(oracle["boxes." + boxes], oracle["objects." + objects], oracle["ignored"].narrow(0, 0, ignored),
                       test::assignment_options_of(of_case["options"]));
    expect_exact(assigned.objects, oracle[name + ".gt_inds"], name);
    compare.close(assigned.overlaps, oracle[name + ".max_overlaps"], name);
  }
}

TEST(DetectionOracle, Sampling) {
  const Oracle oracle = test::load_oracle("det_assign");
  test::Comparison compare(oracle.name + " samples");
  for (const auto& [name, of_sampler] : oracle.metadata["samplers"].items()) {
    const auto& of_case = oracle.metadata["cases"][of_sampler["case"].get<std::string>()];
    const at::Tensor boxes = oracle["boxes." + of_case["boxes"].get<std::string>()];
    const at::Tensor objects = oracle["objects." + of_case["objects"].get<std::string>()];
    const auto options = test::sample_options_of(of_sampler, of_sampler["add_gt_as_proposals"] == 1);
    const models::Assignment assigned =
        models::assign(boxes, objects, {}, test::assignment_options_of(of_case["options"]));
    const std::string at = "sampler." + name + ".";
    const models::BoxSample taken = models::sample(boxes, assigned, objects, oracle[at + "priority"], options);
    expect_exact(taken.positives, oracle[at + "pos_inds"], at + "positives");
    expect_exact(taken.negatives, oracle[at + "neg_inds"], at + "negatives");
    expect_exact(taken.objects, oracle[at + "pos_assigned_gt"], at + "objects");
    compare.close(taken.boxes, oracle[at + "boxes"], at + "boxes");
    compare.close(taken.object_boxes, oracle[at + "pos_gt_boxes"], at + "objects' boxes");
  }
}

}  // namespace
}  // namespace cachet
