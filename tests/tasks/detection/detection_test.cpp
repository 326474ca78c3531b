#include "cachet/tasks/detection/detection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "cachet/data/vision/shape_folder.h"
#include "cachet/io/error.h"
#include "cachet/io/read_file.h"
#include "cachet/tasks/dry_run.h"
#include "cachet/tasks/saved_run.h"
#include "cachet/train/event_log.h"
#include "cachet/train/run_folder.h"
#include "cachet/train/trainer.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"

namespace cachet::tasks {
namespace {

class DetectionTest : public testing::Test {
 protected:
  DetectionTest() {
    data::ShapeOptions shapes;
    shapes.train = 12;
    shapes.validation = 5;
    shapes.height = shapes.width = 64;
    shapes.crowds = 0.3;
    data::write_shape_folder(data_, shapes);
  }

  std::string recipe() const {
    return R"([task]
kind = "detection"
[data]
classes = 6
workers = 0
root = ")" +
           data_.string() +
           R"("
[data.transform]
long_side = 64
short_sides = [48, 64]
[model]
name = "mask_rcnn_pvt_tiny_fpn"
embed_dims = [8, 16, 16, 32]
depths = [1, 1, 1, 1]
num_heads = [1, 2, 2, 4]
mlp_ratios = [1, 1, 1, 1]
stochastic_depth = 0.0
[model.neck]
out_channels = 8
[model.rpn_head]
feat_channels = 8
[model.rpn_head.anchors]
scales = [4.0]
[model.rpn_head.proposals]
max_per_img = 40
[model.rpn_head.test_proposals]
max_per_img = 40
[model.roi_head.sampler]
num = 16
[model.roi_head.bbox_head]
fc_out_channels = 12
[model.roi_head.mask_head]
conv_out_channels = 8
[model.cache]
kind = "grc"
[train]
epochs = 3
batch_size = 4
threads = 1
log_every = "1 steps"
clip_norm = 10.0
[optimizer]
lr = 0.001
[schedule]
kind = "constant"
)";
  }
  config::Document document(const std::vector<std::string>& settings = {}) const {
    config::Document document = config::Document::from_text(recipe(), "tiny.toml");
    for (const std::string& setting : settings) document.set(setting);
    return document;
  }
  RecipePlan plan(const std::vector<std::string>& settings = {}) const {
    config::Document read = document(settings);
    return read_recipe(read);
  }
  train::Outcome trained(const std::filesystem::path& run, const std::vector<std::string>& settings = {}) const {
    config::Document read = document(settings);
    const RecipePlan made = read_recipe(read);
    const auto task = made.build();
    train::RunFolder folder = std::filesystem::exists(run)
                                  ? train::RunFolder::resume(run, read, {"cachet", "train", "--resume"})
                                  : train::RunFolder::create(run, {"tiny", recipe()}, read, {"cachet", "train"});
    return train::Trainer(*task, made.training, folder, nullptr).run();
  }

  test::TemporaryDirectory folder_;
  std::filesystem::path data_ = folder_ / "shapes";
};

TEST_F(DetectionTest, TrainsEvaluatesAndReports) {
  const auto run = folder_ / "run";
  const train::Outcome outcome = trained(run);
  EXPECT_EQ(outcome.step, 9);
  EXPECT_TRUE(outcome.metrics.find("box_ap"));
  EXPECT_TRUE(outcome.metrics.find("mask_ap50"));
  const std::string log = io::read_text_file(train::RunFolder::open(run).metrics(), 1 << 20);
  for (const char* name :
       {"loss_rpn_cls", "loss_rpn_bbox", "loss_cls", "loss_bbox", "loss_mask", "box_ap", "mask_ar100"})
    EXPECT_NE(log.find(name), std::string::npos) << name;
  const std::string page = io::read_text_file(train::RunFolder::open(run).report(), 1 << 26);
  for (const char* text : {"AP, overlap 0.50 to 0.95, all sizes, 100 detections", "Confusion of classes",
                           "Worst images", "validation images", "triangle"})
    EXPECT_NE(page.find(text), std::string::npos) << text;
}

TEST_F(DetectionTest, ResumesBitByBit) {
  const auto whole = folder_ / "whole", parts = folder_ / "parts";
  trained(whole);
  trained(parts, {"train.limit=\"4 steps\""});
  trained(parts, {"train.limit=\"9 steps\""});
  const auto weights = [](const std::filesystem::path& run) { return read_weights(open_saved_run(run)); };
  const io::TensorMap one = weights(whole), other = weights(parts);
  ASSERT_EQ(one.size(), other.size());
  for (const auto& [name, tensor] : one) EXPECT_TRUE(tensor.equal(other.at(name))) << name;
}

TEST_F(DetectionTest, AnswersTheEvaluationSetAndGivenImagesAlike) {
  const auto task = plan({"model.cache.kind=\"none\"", "train.batch_size=1"}).build(Splits::test);
  auto& detection = dynamic_cast<Detection&>(*task);
  detection.model().eval();
  std::vector<Record> records, rest;
  detection.answer_evaluation(0, {}, [&](const Record& record) { records.push_back(record); });
  detection.answer_evaluation(3, {}, [&](const Record& record) { rest.push_back(record); });
  ASSERT_EQ(records.size(), 5u);
  ASSERT_EQ(rest.size(), 2u);
  EXPECT_EQ(records[3], rest[0]);
  for (size_t i = 0; i < records.size(); ++i) {
    const auto found = found_objects_from_json(records[i]);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->index, static_cast<int64_t>(i));
    EXPECT_EQ(found->image_id, static_cast<int64_t>(i) + 1);
    PreparedSamples samples;
    const std::string file = (data_ / "images" / "val" / ("00000" + std::to_string(i + 1) + ".png")).string();
    samples.push_back(detection.prepare_given(file));
    samples.back()->given = file;
    const auto given = found_objects_from_json(detection.answer_given(samples, {}).at(0));
    ASSERT_TRUE(given.has_value());
    EXPECT_EQ(given->file, file);
    ASSERT_EQ(given->objects.size(), found->objects.size());
    for (size_t k = 0; k < given->objects.size(); ++k) {
      EXPECT_EQ(given->objects[k].box, found->objects[k].box);
      EXPECT_EQ(given->objects[k].mask, found->objects[k].mask);
    }
  }
}

TEST_F(DetectionTest, GoesOnWithoutImagesThatAreDamaged) {
  const auto file = data_ / "images" / "val" / "000002.png";
  std::filesystem::resize_file(file, 50);
  const auto evaluated = [&](const std::string& rule) {
    const auto task = plan({"data.on_bad_image=\"" + rule + "\""}).build(Splits::test);
    task->model().eval();
    return task->evaluate([](int64_t, int64_t) {});
  };
  EXPECT_NE(test::thrown_message<io::Error>([&] { evaluated("stop"); }).find(file.string()), std::string::npos);
  EXPECT_TRUE(evaluated("skip").find("box_ap").has_value());
}

TEST_F(DetectionTest, RefusesASetOfOtherClasses) {
  EXPECT_NE(test::thrown_message<std::invalid_argument>([&] {
              plan({"data.classes=5"}).build();
            }).find("has 6 categories, the model 5 classes; set data.classes, or name those"),
            std::string::npos);
  EXPECT_NE(test::thrown_message<io::Error>([&] {
              plan({"data.class_names=[\"disc\", \"cube\"]", "data.classes=2"}).build();
            }).find("has no category 'cube'"),
            std::string::npos);
  EXPECT_EQ(plan({"data.class_names=[\"ring\", \"disc\"]", "data.classes=2"}).build()->evaluation_size(), 5);
}

TEST_F(DetectionTest, IsTriedWithMadeUpScenes) {
  const RecipePlan small = reduced(plan({"data.root=\"nowhere\""}));
  const auto task = small.build(Splits::made_up);
  const DryRun tried = dry_run(*task, small.training);
  EXPECT_GT(tried.step_seconds, 0);
}

}  // namespace
}  // namespace cachet::tasks
