#include "cachet/tasks/detection/detection_training_batches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cachet/io/digests/sha256.h"
#include "cachet/io/files/read_file.h"
#include "cachet/train/checkpoints/manifest.h"
#include "cachet/train/runs/resume_rules.h"
#include "tests/data/vision/coco/detection_files.h"
#include "tests/support/checkpoints.h"
#include "tests/support/small_scenes.h"
#include "tests/tasks/joint_steps.h"
#include "tests/tasks/tiny_run.h"

// A step of several parts (micro-batches, processes) has the losses of anchors of one large batch.
namespace cachet::tasks {
namespace {

namespace fs = std::filesystem;

using Settings = std::vector<std::string>;

constexpr int64_t kPictures = 6;

class DetectionTrainingBatchesTest : public test::TinyRunTest {
 protected:
  DetectionTrainingBatchesTest() {
    for (int64_t i = 0; i < kPictures; ++i) test::write_plain_png(file(i), 64, 64, 30 * (i + 1));
    put_objects({0});
  }

  fs::path file(int64_t picture) const { return folder_ / "data" / "images" / (std::to_string(picture) + ".png"); }

  /// Three squares in each of these pictures, nothing in the others.
  void put_objects(const std::set<int64_t>& pictures) {
    nlohmann::json json{{"images", nlohmann::json::array()},
                        {"annotations", nlohmann::json::array()},
                        {"categories", {{{"id", 1}, {"name", "square"}}}}};
    for (int64_t i = 0; i < kPictures; ++i) {
      json["images"].push_back({{"id", i}, {"height", 64}, {"width", 64}, {"file_name", std::to_string(i) + ".png"}});
      for (int64_t k = 0; pictures.contains(i) && k < 3; ++k) {
        const int64_t left = 4 + 14 * k, side = 16 + 6 * k, right = left + side, bottom = 6 + side;
        json["annotations"].push_back({{"id", 10 * i + k},
                                       {"image_id", i},
                                       {"category_id", 1},
                                       {"bbox", {left, 6, side, side}},
                                       {"area", side * side},
                                       {"segmentation", {{left, 6, right, 6, right, bottom, left, bottom}}}});
      }
    }
    std::ofstream(folder_ / "data" / "instances.json") << json;
  }

  std::string recipe() const override {
    return "[task]\nkind = \"detection\"\n[data]\nroot = \"" + (folder_ / "data").string() + R"("
train_annotations = "instances.json"
train_images = "images"
validation_annotations = "instances.json"
validation_images = "images"
images_without_objects = "keep"
classes = 1
workers = 0
[data.transform]
long_side = 64
short_sides = [64]
[model]
stochastic_depth = 0.0
)" + test::kSmallPyramid +
           test::kSmallNeck + R"([train]
epochs = 6
batch_size = 6
threads = 1
[optimizer]
kind = "sgd"
lr = 0.01
[schedule]
kind = "constant"
)";
  }

  static Settings retina(const Settings& more) {
    return with(
        {"model.name=retinanet_pvt_tiny_fpn", "model.bbox_head.feat_channels=8", "model.bbox_head.stacked_convs=1"},
        more);
  }
  /// Losses of proposals count for nothing, and all anchors take part, so that nothing is drawn.
  static Settings regions(const Settings& more) {
    return with({"model.name=mask_rcnn_pvt_tiny_fpn", "model.rpn_head.feat_channels=8",
                 "model.rpn_head.sampler.num=100000", "model.rpn_head.sampler.pos_fraction=1.0",
                 "model.rpn_head.anchors.scales=[4.0]", "model.rpn_head.proposals.max_per_img=20",
                 "model.roi_head.sampler.num=8", "model.roi_head.bbox_head.fc_out_channels=12",
                 "model.roi_head.bbox_head.loss_cls.loss_weight=0", "model.roi_head.bbox_head.loss_bbox.loss_weight=0",
                 "model.roi_head.mask_head.conv_out_channels=8", "model.roi_head.mask_head.loss_mask.loss_weight=0"},
                more);
  }
  static Settings with(Settings settings, const Settings& more) {
    settings.insert(settings.end(), more.begin(), more.end());
    return settings;
  }

  /// What one step gives in one process, and what it leaves.
  struct Step {
    train::Metrics means;
    double gradient_norm;
    int64_t samples;
    io::TensorMap weights;
  };
  Step one_step(const Settings& settings) const {
    const RecipePlan made = plan(settings);
    const auto task = made.build();
    train::LiveRun live(*task, made.training);
    const train::StepSummary result = live.advance();
    return {train::means(result.sums), result.gradient_norm, result.samples, io::state_dict(task->model())};
  }

  /// Sums of float32 in another order.
  static void expect_same_step(const Step& parts, const Step& whole, const std::string& what) {
    EXPECT_EQ(parts.samples, whole.samples) << what;
    EXPECT_NEAR(parts.gradient_norm, whole.gradient_norm, 2e-5 * whole.gradient_norm) << what;
    for (const char* name : {"loss", "loss_cls", "loss_bbox", "loss_rpn_cls", "loss_rpn_bbox"}) {
      const auto expected = whole.means.find(name);
      ASSERT_EQ(parts.means.find(name).has_value(), expected.has_value()) << what << ": " << name;
      if (!expected) continue;
      EXPECT_NEAR(*parts.means.find(name), *expected, 2e-5 * std::abs(*expected)) << what << ": " << name;
    }
    for (const auto& [name, tensor] : whole.weights)
      EXPECT_TRUE(parts.weights.at(name).allclose(tensor, 1e-5, 1e-6)) << what << ": " << name;
  }
};

Settings micro_batches(int64_t size, int64_t count) {
  return {"train.batch_size=" + std::to_string(size), "train.accumulate=" + std::to_string(count)};
}

TEST_F(DetectionTrainingBatchesTest, AStepOfMicroBatchesIsThatOfOneBatch) {
  for (const bool objects : {true, false}) {
    if (!objects) put_objects({});
    for (const auto& settings : {&DetectionTrainingBatchesTest::retina, &DetectionTrainingBatchesTest::regions}) {
      const Step whole = one_step(settings({}));
      for (const auto& [size, count] : {std::pair{3, 2}, {2, 3}, {1, 6}}) {
        const std::string what = settings({}).front() + ", " + std::to_string(count) + " of " + std::to_string(size) +
                                 (objects ? "" : ", no objects");
        expect_same_step(one_step(settings(micro_batches(size, count))), whole, what);
      }
    }
  }
}

TEST_F(DetectionTrainingBatchesTest, UnequalAndEmptyMicroBatchesCountByTheirImages) {
  fs::resize_file(file(3), 50);
  const auto skipping = [](const Settings& more) { return with(retina({"data.on_bad_image=skip"}), more); };
  const Step whole = one_step(skipping({}));
  EXPECT_EQ(whole.samples, 5);
  for (const auto& [size, count] : {std::pair{3, 2}, {2, 3}, {1, 6}})
    expect_same_step(one_step(skipping(micro_batches(size, count))), whole, std::to_string(size));
  for (int64_t i = 0; i < kPictures; ++i) fs::resize_file(file(i), 50);
  const Step none = one_step(skipping(micro_batches(2, 3)));
  EXPECT_EQ(none.samples, 0);
  EXPECT_EQ(none.gradient_norm, 0);
}

TEST_F(DetectionTrainingBatchesTest, PartsMayBeDividedByTheirOwnCounts) {
  const auto by_part = [](const Settings& more) { return with(retina({"task.loss_divisor=part"}), more); };
  const auto loss = [&](const Step& step) { return step.means.find("loss_bbox").value(); };
  const Step whole = one_step(retina({})), parts = one_step(by_part(micro_batches(2, 3)));
  // Two pictures in three micro-batches have no positive anchor each, and count as one each.
  EXPECT_LT(loss(parts), 0.8 * loss(whole));
  const Step one_part = one_step(by_part({}));
  EXPECT_EQ(one_part.means, whole.means);
  test::expect_same_tensors(one_part.weights, whole.weights);
}

TEST_F(DetectionTrainingBatchesTest, AProcessWhoseImagesWereAllSkippedTakesPart) {
  fs::resize_file(file(3), 50);
  put_objects({0, 1, 2, 3, 4, 5});
  for (const char* divisor : {"step", "part"}) {
    const Settings settings = retina({"data.on_bad_image=skip", "train.batch_size=2", "model.norm.kind=un",
                                      "model.cache.kind=grc", std::string("task.loss_divisor=") + divisor});
    const test::JointSteps left = test::train_joint_steps(plan(settings), 3, Splits::both);
    if (std::string(divisor) == "step")
      test::expect_as_alone(left, divisor, 2e-4);  // the images have thousands of tokens: more roundings
    else
      test::expect_alike(left);
  }
}

/// Makes of a run what the version before wrote, which did not know the key.
void forget_the_divisor(const fs::path& run) {
  auto json = nlohmann::ordered_json::parse(io::read_text_file(run / "run.json", 1 << 20));
  ASSERT_EQ(json["values"].erase("task.loss_divisor"), 1U);
  std::ofstream(run / "run.json") << json.dump(2) << "\n";
  const fs::path checkpoint = *train::CheckpointStore(run / "checkpoints", "", 1).last();
  auto state = nlohmann::ordered_json::parse(io::read_text_file(checkpoint / "state.json", 1 << 20));
  state["config_hash"] = train::config_hash(json["values"].get<train::RecipeValues>());
  const std::string text = state.dump(2) + "\n";
  train::Manifest manifest = train::read_manifest(checkpoint);
  manifest.files["state.json"] = {text.size(), io::sha256_hex(std::as_bytes(std::span(text)))};
  std::ofstream(checkpoint / "state.json") << text;
  std::ofstream(checkpoint / "manifest.json") << train::to_json(manifest);
}

TEST_F(DetectionTrainingBatchesTest, ARunThatBeganBeforeKeepsItsDivisor) {
  const auto settings = [](const std::string& steps, const Settings& more = {}) {
    return with(retina({"train.batch_size=1", "train.accumulate=2", "train.limit=\"" + steps + " steps\""}), more);
  };
  const fs::path whole = folder_ / "whole", before = folder_ / "before", now = folder_ / "now";
  for (const char* steps : {"4", "6", "8"}) trained(whole, settings(steps, {"task.loss_divisor=part"}));
  trained(before, settings("4", {"task.loss_divisor=part"}));
  forget_the_divisor(before);
  for (const char* steps : {"6", "8"}) trained(before, settings(steps));
  trained(now, settings("8"));
  EXPECT_EQ(train::RunFolder::open(now).values().at("task.loss_divisor"), "\"step\"");
  const auto weights = [](const fs::path& run) { return test::last_checkpoint(run).model; };
  test::expect_same_tensors(weights(before), weights(whole));
  const io::TensorMap one = weights(before), other = weights(now);
  EXPECT_TRUE(std::ranges::any_of(one, [&](const auto& named) { return !named.second.equal(other.at(named.first)); }));
  const std::string log = io::read_text_file(before / "log.txt", 1 << 20),
                    told = "keeps the earlier rule, task.loss_divisor = ";
  ASSERT_NE(log.find(told), std::string::npos);
  EXPECT_EQ(log.find(told), log.rfind(told)) << "once, of two resumes";
}

}  // namespace
}  // namespace cachet::tasks
