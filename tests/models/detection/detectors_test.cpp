#include <ATen/autocast_mode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "cachet/io/tensors/names/name_source.h"
#include "cachet/models/detection/faster_rcnn.h"
#include "cachet/models/detection/retinanet.h"
#include "cachet/nn/cache/reset_caches.h"
#include "tests/support/clone_check.h"
#include "tests/support/refused.h"
#include "tests/support/small_detectors.h"

namespace cachet {
namespace {

using test::built_detector;
using test::Settings;
using test::SmallModel;
using test::synthetic_batch;

class Detectors : public ::testing::TestWithParam<SmallModel> {};

void expect_same_detections(const std::vector<models::Detections>& actual,
                            const std::vector<models::Detections>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    EXPECT_TRUE(at::equal(actual[i].boxes, expected[i].boxes)) << i;
    EXPECT_TRUE(at::equal(actual[i].scores, expected[i].scores)) << i;
    EXPECT_TRUE(at::equal(actual[i].labels, expected[i].labels)) << i;
  }
}

TEST_P(Detectors, LearnWithAnyNormAndCache) {
  for (const std::string& norm : test::norm_kinds())
    for (Settings plug_ins : test::cache_settings(true)) {
      plug_ins.push_back("norm.kind=" + norm);
      SCOPED_TRACE(test::text_of(plug_ins));
      const auto model = built_detector(GetParam(), plug_ins);
      model->train();
      const models::DetectionLosses losses = model->losses(synthetic_batch());
      for (const auto& [name, value] : losses.losses) {
        EXPECT_EQ(value.dim(), 0) << name;
        EXPECT_TRUE(std::isfinite(value.item<double>())) << name;
      }
      std::vector<std::string> names;
      for (const auto* values : {&losses.losses, &losses.measures})
        for (const auto& value : *values) names.push_back(value.name);
      EXPECT_EQ(names, model->loss_names());
      losses.sum().backward();
      EXPECT_GT(model->parameters().front().grad().abs().sum().item<double>(), 0);
    }
}

TEST_P(Detectors, AStepIsAFunctionOfSeedStepAndImages) {
  const auto model = built_detector(GetParam());
  model->train();
  models::DetectionBatch batch = synthetic_batch();
  const auto loss = [&](uint64_t seed, uint64_t step, std::vector<uint64_t> images) {
    batch.priorities = models::counted_priorities(seed, step, std::move(images));
    return model->losses(batch).sum().item<double>();
  };
  const double here = loss(1, 2, {7, 9});
  EXPECT_EQ(loss(1, 2, {7, 9}), here);
  if (GetParam().name.starts_with("retinanet")) return;  // which draws nothing
  EXPECT_NE(loss(2, 2, {7, 9}), here);
  EXPECT_NE(loss(1, 3, {7, 9}), here);
  EXPECT_NE(loss(1, 2, {8, 9}), here);
}

TEST_P(Detectors, FindBoxesWithinTheImageTheSurestFirst) {
  const at::NoGradGuard no_grad;
  const auto model = built_detector(GetParam(), {"test.score_thr=0.0", "test.max_per_img=30"});
  model->eval();
  const auto batch = synthetic_batch();
  for (const auto frame : {models::DetectionFrame::batch, models::DetectionFrame::original}) {
    const auto found = model->detect(batch.images, batch.sizes, frame);
    ASSERT_EQ(found.size(), 2u);
    for (size_t i = 0; i < 2; ++i) {
      const auto size = frame == models::DetectionFrame::original ? batch.sizes[i].original : batch.sizes[i].resized;
      ASSERT_EQ(found[i].boxes.size(0), 30);
      EXPECT_GE(found[i].boxes.min().item<double>(), 0);
      EXPECT_LE(found[i].boxes.select(1, 2).max().item<double>(), static_cast<double>(size.width) + 1e-4);
      EXPECT_LE(found[i].boxes.select(1, 3).max().item<double>(), static_cast<double>(size.height) + 1e-4);
      EXPECT_TRUE((found[i].scores.diff() <= 0).all().item<bool>());
      EXPECT_TRUE((found[i].labels >= 0).all().item<bool>() && (found[i].labels < 3).all().item<bool>());
      EXPECT_EQ(found[i].mask_scores.defined(), model->outlines_objects());
      if (model->outlines_objects()) {
        EXPECT_EQ(found[i].mask_scores.sizes(), at::IntArrayRef({30, 28, 28}));
      }
    }
  }
}

TEST_P(Detectors, DetectInEvaluationAlone) {
  const auto model = built_detector(GetParam(), {});
  model->train();
  const auto batch = synthetic_batch();
  test::expect_refused([&] { model->detect(batch.images, batch.sizes); }, "call eval() first");
  test::expect_refused([&] { model->box_scores(batch.images); }, "call eval() first");
}

TEST_P(Detectors, FindNothingWhereNothingIsSureEnough) {
  const auto model = built_detector(GetParam(), {"test.score_thr=1.0"});
  model->eval();
  const auto batch = synthetic_batch();
  for (const models::Detections& found : model->detect(batch.images, batch.sizes)) {
    EXPECT_EQ(found.boxes.sizes(), at::IntArrayRef({0, 4}));
    EXPECT_EQ(found.labels.numel(), 0);
    if (model->outlines_objects()) {
      EXPECT_EQ(found.mask_scores.sizes(), at::IntArrayRef({0, 28, 28}));
    }
  }
}

TEST_P(Detectors, LearnFromImagesWithoutAnyObjectAndOfCrowdsAlone) {
  const auto model = built_detector(GetParam(), {});
  model->train();
  models::DetectionBatch batch = synthetic_batch();
  batch.targets[0] = batch.targets[1];
  batch.targets[0].ignored = at::tensor(std::vector<double>{0, 0, 40, 40}, at::kFloat).view({1, 4});
  const models::DetectionLosses losses = model->losses(batch);
  for (const auto& [name, value] : losses.losses) {
    EXPECT_TRUE(std::isfinite(value.item<double>())) << name;
    if (name.find("bbox") != std::string::npos || name == "loss_mask") {
      EXPECT_EQ(value.item<double>(), 0) << name;
    }
  }
  losses.sum().backward();
}

TEST_P(Detectors, LearnAndDetectWithoutAnyProposal) {
  if (GetParam().name.starts_with("retinanet")) return;  // which has none
  const auto model = built_detector(
      GetParam(), {"rpn_head.proposals.min_bbox_size=100000", "rpn_head.test_proposals.min_bbox_size=100000",
                   "roi_head.sampler.add_gt_as_proposals=false"});
  model->train();
  const auto batch = synthetic_batch();
  const models::DetectionLosses losses = model->losses(batch);
  for (const auto& [name, value] : losses.losses) EXPECT_TRUE(std::isfinite(value.item<double>())) << name;
  losses.sum().backward();
  model->eval();
  for (const models::Detections& found : model->detect(batch.images, batch.sizes))
    EXPECT_EQ(found.boxes.sizes(), at::IntArrayRef({0, 4}));
}

// What a run that diverges meets in its last step: the loss shows it, and not a shape.
TEST_P(Detectors, LossesOfWeightsThatAreNotFiniteAreNotFinite) {
  for (const char* least_side : {"0", "-1"}) {
    Settings settings;
    if (!GetParam().name.starts_with("retinanet"))
      settings.push_back(std::string("rpn_head.proposals.min_bbox_size=") + least_side);
    const auto model = built_detector(GetParam(), settings);
    model->train();
    {
      const at::NoGradGuard no_grad;
      for (const at::Tensor& parameter : model->parameters()) parameter.fill_(std::nan(""));
    }
    EXPECT_TRUE(std::isnan(model->losses(synthetic_batch()).sum().item<double>())) << least_side;
  }
}

TEST_P(Detectors, MeasureInFloat32UnderAutocast) {
  const auto model = built_detector(GetParam());
  at::autocast::set_autocast_enabled(at::kCPU, true);
  at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
  model->train();
  const models::DetectionLosses losses = model->losses(synthetic_batch());
  at::autocast::set_autocast_enabled(at::kCPU, false);
  at::autocast::clear_cache();
  for (const auto& [name, value] : losses.losses) {
    EXPECT_EQ(value.scalar_type(), at::kFloat) << name;
    EXPECT_TRUE(std::isfinite(value.item<double>())) << name;
  }
  losses.sum().backward();
}

TEST_P(Detectors, CachesStartOverWhileWhatWasLearntStays) {
  for (const Settings& plug_ins :
       {Settings{"cache.kind=grc"}, Settings{"cache.kind=fifo"}, Settings{"cache.kind=concatenated"}}) {
    const auto model = built_detector(GetParam(), plug_ins);
    model->train();
    {
      const at::NoGradGuard no_grad;
      model->losses(synthetic_batch());
    }
    const auto before = test::values_of(*model);
    int64_t caches = 0;
    for (const auto& [name, value] : before)
      if (name.ends_with("cache.tokens")) {
        ++caches;
        EXPECT_GT(value.abs().sum().item<double>(), 0) << name;
      }
    EXPECT_EQ(nn::reset_caches(model->backbone()), caches);
    for (const auto& [name, value] : test::values_of(*model)) {
      const bool cache = name.ends_with("cache.tokens");
      EXPECT_TRUE(at::equal(value, cache ? at::zeros_like(value) : before.at(name))) << name;
    }
    EXPECT_GT(caches, 0);
    EXPECT_EQ(nn::reset_caches(*built_detector(GetParam())), 0);
  }
}

TEST_P(Detectors, AreCopiedWithAllThatTheyHold) {
  for (const Settings& plug_ins : {Settings{}, Settings{"cache.kind=grc", "norm.kind=un"}}) {
    const auto model = built_detector(GetParam(), plug_ins);
    model->train();
    const at::Tensor images = at::randn({2, 3, 64, 64});
    test::expect_clones<models::ObjectDetector>(model, [&](models::ObjectDetector& each) {
      at::Generator random = at::detail::getDefaultCPUGenerator();
      const at::Tensor kept = random.get_state();
      random.set_current_seed(1);
      const models::Trial trial = each.trial(2, at::kFloat);
      random.set_state(kept);
      return trial.forward();
    });
    const auto copy = std::dynamic_pointer_cast<models::ObjectDetector>(model->clone());
    model->eval(), copy->eval();
    const auto batch = synthetic_batch();
    expect_same_detections(copy->detect(batch.images, batch.sizes), model->detect(batch.images, batch.sizes));
  }
}

TEST_P(Detectors, MapToPublishedNamesAndBackBitForBit) {
  std::vector<Settings> published{{}};
  if (GetParam().name.find("pvt_tiny") != std::string::npos)
    published.push_back({"cache.kind=grc", "cache.variant=official"});
  for (const Settings& plug_ins : published) {
    const auto model = built_detector(GetParam(), plug_ins);
    io::TensorMap ours;
    for (const auto& item : model->named_parameters()) ours.emplace(item.key(), at::randn_like(item.value()));
    for (const auto& item : model->named_buffers()) ours.emplace(item.key(), at::randn_like(item.value()));
    EXPECT_EQ(io::recognize_names(ours), io::NameSource::cachet);
    const io::TensorMap theirs = io::to_their_names(io::NameSource::mmdetection, ours, {64, 64, {}});
    EXPECT_EQ(io::recognize_names(theirs), io::NameSource::mmdetection);
    EXPECT_TRUE(theirs.contains(GetParam().name.find("pvt") != std::string::npos
                                    ? "backbone.patch_embed1.proj.weight"
                                    : "backbone.layers.0.downsample.reduction.weight"));
    const io::TensorMap back = io::to_our_names(io::NameSource::mmdetection, theirs);
    EXPECT_EQ(back.size(), ours.size());
    for (const auto& [name, tensor] : ours)
      EXPECT_TRUE(back.contains(name) && at::equal(back.at(name), tensor)) << name;
    const io::TensorMap again = io::to_their_names(io::NameSource::mmdetection, back, {64, 64, {}});
    for (const auto& [name, tensor] : theirs)
      EXPECT_TRUE(again.contains(name) && at::equal(again.at(name), tensor)) << name;
  }
}

TEST_P(Detectors, NameWhatIsWrongWithABatch) {
  const auto model = built_detector(GetParam());
  const auto refused = [&](const auto& change, const std::string& text) {
    models::DetectionBatch batch = synthetic_batch();
    change(batch);
    test::expect_refused([&] { model->losses(batch); }, text);
  };
  refused([](auto& b) { b.sizes.pop_back(); }, "images must be (B, C, H, W), with one size for each image");
  refused([](auto& b) { b.targets.pop_back(); }, "targets for each of the 2 images, got targets for 1 images");
  refused([](auto& b) { b.sizes[1].padded.width = 128; }, "image 1 (resized to 64 x 50");
  refused([](auto& b) { b.sizes[0].scale[2] = 0; }, "the scale of image 0 must be above 0, got 0");
  refused([](auto& b) { b.targets[0].boxes = at::zeros({2, 5}); }, "boxes of image 0 must be floating-point (n, 4)");
  refused([](auto& b) { b.targets[1].ignored = at::zeros({4}); }, "ignored boxes of image 1");
  refused([](auto& b) { b.targets[0].labels = at::zeros({3}, at::kLong); }, "labels of image 0 must be int64");
  refused([](auto& b) { b.targets[0].labels = at::full({2}, 3, at::kLong); },
          "labels of image 0 must be from 0 to 2 (the model's last class), got labels from 3 to 3");
  refused([](auto& b) { b.targets[0].boxes[1][2] = b.targets[0].boxes[1][0]; }, "a box of image 0 has no area");
  if (!GetParam().name.starts_with("retinanet"))
    refused([](auto& b) { b.priorities = {}; }, "the batch has no priorities");
  if (model->outlines_objects()) refused([](auto& b) { b.targets[0].masks = {}; }, "image 0 of the batch has no masks");
}

/// Five drawn images of one size, two of them without an object.
struct SyntheticScenes {
  at::Tensor images = at::randn({5, 3, 64, 64}, at::kDouble);
  std::vector<std::vector<double>> boxes{
      {4, 6, 40, 50, 30, 10, 62, 30, 2, 2, 20, 18}, {}, {8, 8, 56, 60}, {}, {1, 30, 33, 62}};

  models::DetectionBatch part(int64_t first, int64_t count) const {
    models::DetectionBatch batch{images.narrow(0, first, count), {}, {}, {}};
    std::vector<uint64_t> numbers;
    for (int64_t i = first; i < first + count; ++i) {
      batch.sizes.push_back({{64, 64}, {64, 64}, {64, 64}});
      const at::Tensor of_image = at::tensor(boxes[static_cast<size_t>(i)], at::kDouble).view({-1, 4});
      const int64_t objects = of_image.size(0);
      batch.targets.push_back({of_image,
                               at::arange(objects, at::kLong) % 3,
                               {},
                               models::bitmap_mask_targets(at::ones({objects, 64, 64}, at::kBool))});
      numbers.push_back(static_cast<uint64_t>(i));
    }
    batch.priorities = models::counted_priorities(1, 2, numbers);
    return batch;
  }
};

bool is_of_anchors(const std::string& loss, const std::string& detector) {
  return detector.starts_with("retinanet") || loss.starts_with("loss_rpn_");
}

/// Losses of anchors over a step of parts, and their gradients, by name.
std::map<std::string, at::Tensor> step_of_parts(models::ObjectDetector& model, const std::string& name,
                                                const SyntheticScenes& scenes, const std::vector<int64_t>& sizes,
                                                bool over_the_step) {
  std::vector<models::DetectionBatch> parts;
  std::vector<models::AnchorTargets> targets;
  double divisor = 0;
  int64_t images = 0;
  for (const int64_t size : sizes) {
    parts.push_back(scenes.part(images, size));
    targets.push_back(model.anchor_targets(parts.back(), {64, 64}));
    divisor += targets.back().divisor;
    images += size;
  }
  model.zero_grad();
  std::map<std::string, at::Tensor> all;
  for (size_t i = 0; i < parts.size(); ++i) {
    const double share = static_cast<double>(sizes[i]) / static_cast<double>(images);
    if (over_the_step) targets[i].divisor = divisor * share;
    at::Tensor sum = at::zeros({}, at::kDouble);
    for (const auto& [loss, value] : model.losses(parts[i], targets[i]).losses) {
      if (!is_of_anchors(loss, name)) continue;
      sum = sum + value * share;
      at::Tensor& total = all.emplace(loss, at::zeros({}, at::kDouble)).first->second;
      total = total + value.detach() * share;
    }
    sum.backward();
  }
  for (const auto& parameter : model.named_parameters())
    if (parameter.value().grad().defined()) all.emplace(parameter.key(), parameter.value().grad().clone());
  return all;
}

// The sums of the losses and their counts are those of the whole batch, so only the order of additions in float64
// differs.
TEST_P(Detectors, AStepOfPartsHasTheLossesOfAnchorsOfOneBatch) {
  constexpr double kRounding = 1e-11;
  at::manual_seed(5);
  const bool has_regions = !GetParam().name.starts_with("retinanet");
  Settings settings{"stochastic_depth=0.0"};
  if (has_regions) settings.push_back("rpn_head.sampler.neg_pos_ub=3");  // else there are 256 samples of any image
  const auto model = built_detector(GetParam(), settings);
  model->to(at::kDouble);
  model->train();
  SyntheticScenes scenes;
  for (const bool objects : {true, false}) {
    if (!objects) scenes.boxes.assign(5, {});
    const auto whole = step_of_parts(*model, GetParam().name, scenes, {5}, false);
    ASSERT_GT(whole.size(), 20U);
    for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{5}, {1, 1, 1, 1, 1}, {2, 3}, {1, 3, 1}}) {
      const auto parts = step_of_parts(*model, GetParam().name, scenes, sizes, true);
      ASSERT_EQ(parts.size(), whole.size());
      for (const auto& [name, value] : whole) {
        const double scale = std::max(1.0, value.abs().max().item<double>());
        EXPECT_LE((parts.at(name) - value).abs().max().item<double>(), kRounding * scale) << name;
        if (sizes.size() > 1) continue;
        EXPECT_TRUE(parts.at(name).equal(value)) << name << ": not one bit differs";
      }
    }
    if (!objects) continue;
    const char* loss = has_regions ? "loss_rpn_bbox" : "loss_bbox";
    const auto apart = step_of_parts(*model, GetParam().name, scenes, {1, 1, 1, 1, 1}, false);
    const double ratio = apart.at(loss).item<double>() / whole.at(loss).item<double>();
    EXPECT_GT(std::abs(ratio - 1), 0.05) << "parts that are divided by their own counts give another loss";
  }
}

// The maps that targets are laid for are those that the model gives, whatever the size of the images.
TEST_P(Detectors, KnowTheirMapsBeforeTheForwardPass) {
  const auto model = built_detector(GetParam());
  model->train();
  const bool any_size = !GetParam().name.starts_with("mask_rcnn_pvt_tiny");  // which takes multiples of 32
  for (const auto& [height, width] : {std::pair{64, 96}, {32, 160}, {65, 97}, {33, 70}, {31, 127}}) {
    if (!any_size && height % 32 + width % 32 > 0) continue;
    SCOPED_TRACE(std::to_string(height) + " x " + std::to_string(width));
    models::DetectionBatch batch = synthetic_batch();
    batch.images = at::randn({2, 3, height, width});
    for (auto& place : batch.sizes) place.resized = place.padded = {height, width};
    batch.targets[0] = batch.targets[1];
    EXPECT_TRUE(std::isfinite(model->losses(batch).sum().item<double>()));
    const models::AnchorTargets other = model->anchor_targets(batch, {height + 64, width});
    test::expect_refused([&] { model->losses(batch, other); }, "the anchors are for maps of other sizes");
  }
  const models::DetectionBatch batch = synthetic_batch();
  models::AnchorTargets one = model->anchor_targets(batch, {64, 96});
  one.samples.pop_back();
  test::expect_refused([&] { model->losses(batch, one); },
                       "targets for each of the 2 images, got targets for 1 images");
}

INSTANTIATE_TEST_SUITE_P(Models, Detectors, ::testing::ValuesIn(test::small_detectors()),
                         [](const auto& info) { return info.param.name; });

TEST(DetectorTraining, ADetectorLearnsABatchByHeart) {
  at::manual_seed(3);
  const auto model = built_detector(test::small_detectors()[0], {});
  model->train();
  models::DetectionBatch batch = synthetic_batch();
  double first = 0, last = 0;
  for (uint64_t step = 0; step < 12; ++step) {
    batch.priorities = models::counted_priorities(1, step, {7, 9});
    model->zero_grad();
    const at::Tensor loss = model->losses(batch).sum();
    loss.backward();
    last = loss.item<double>();
    if (step == 0) first = last;
    const at::NoGradGuard no_grad;
    for (at::Tensor& parameter : model->parameters())
      if (parameter.grad().defined()) parameter.sub_(parameter.grad() / (1 + parameter.grad().norm()), 0.1);
  }
  EXPECT_LT(last, first);
}

}  // namespace
}  // namespace cachet
