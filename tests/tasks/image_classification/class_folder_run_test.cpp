// Training, evaluating and predicting images that each have a size of their own.
#include <gtest/gtest.h>

#include <map>
#include <stdexcept>
#include <string>

#include "cachet/io/files/read_file.h"
#include "cachet/tasks/classification/prediction.h"
#include "cachet/tasks/recipe.h"
#include "cachet/train/checkpoints/checkpoint.h"
#include "cachet/train/checkpoints/checkpoint_store.h"
#include "cachet/train/machine/process_setup.h"
#include "cachet/train/runs/run_folder.h"
#include "cachet/train/trainer.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"
#include "tests/support/written_class_folders.h"
#include "tests/tasks/given_predictions.h"
#include "tests/tasks/tiny_images.h"

namespace cachet::tasks {
namespace {

constexpr const char* kSmallVit = "patch_size = 8\nembed_dim = 16\ndepth = 1\nnum_heads = 2\n";

class ClassFolderRun : public ::testing::Test {
 protected:
  ClassFolderRun() { test::write_class_folders(folder_ / "images", {"a", "b", "c", "d", "e", "f", "g"}, 3, 2); }

  std::string recipe(const std::string& model = "name = \"vit_tiny_patch16_224\"\n" + std::string(kSmallVit)) const {
    return "[data]\nroot = \"" + (folder_ / "images").string() + R"("
kind = "class_folders"
classes = 7
workers = 0
repeated_augmentation = 2
[data.resize]
image_size = 16
[data.augmentation]
flip = 0.5
erasing = 0.25
erasing_mode = "pixel"
saturation = 0.2
[data.augmentation.rand_augment]
operations = 2
[model]
)" + model +
           R"([train]
epochs = 2
batch_size = 6
threads = 1
)";
  }
  config::Document document(const std::vector<std::string>& settings = {}) const {
    config::Document document = config::Document::from_text(recipe(), "folders.toml");
    for (const std::string& setting : settings) document.set(setting);
    return document;
  }
  std::unique_ptr<ImageClassification> task(const std::vector<std::string>& settings = {}) const {
    config::Document read = document(settings);
    return test::as_images(read_recipe(read).build());
  }
  train::Outcome trained(const std::string& run, const std::vector<std::string>& settings = {}) const {
    config::Document read = document(settings);
    const RecipePlan plan = read_recipe(read);
    const auto task = plan.build();
    train::RunFolder folder = train::RunFolder::create(folder_ / run, {"recipe", recipe()}, read, {"cachet", "train"});
    return train::Trainer(*task, plan.training, folder, nullptr).run();
  }

  test::TemporaryDirectory folder_;
};

TEST_F(ClassFolderRun, TrainsTheSameForAnyNumberOfWorkers) {
  const train::Outcome outcome = trained("alone");
  EXPECT_EQ(outcome.ending, train::StopReason::finished);
  EXPECT_EQ(outcome.step, 6);
  EXPECT_TRUE(outcome.metrics.find("top5")) << "of seven classes";
  trained("together", {"data.workers=3"});
  const auto weights = [&](const char* run) {
    return train::read_checkpoint(*train::CheckpointStore(folder_ / run / "checkpoints", "", 1).last()).model;
  };
  const auto alone = weights("alone"), together = weights("together");
  for (const auto& [name, tensor] : alone) EXPECT_TRUE(tensor.equal(together.at(name))) << name;
  EXPECT_NE(io::read_text_file(folder_ / "alone/report.html", 64 << 20).find("data:image/png"), std::string::npos);
}

TEST_F(ClassFolderRun, FilesArePredictedAsTheTestImagesAre) {
  const auto run = task();
  run->model().eval();
  std::vector<std::string> files;
  for (const char* name : {"a/0.jpg", "a/1.jpg", "b/0.jpg"}) files.push_back((folder_ / "images/val" / name).string());
  const auto of_files = test::given_predictions(*run, files, 7);
  std::vector<Prediction> of_data;
  run->predict(0, {.top = 7}, [&](const Prediction& p) { of_data.push_back(p); });
  ASSERT_EQ(of_data.size(), 14u);
  for (size_t i = 0; i < of_files.size(); ++i) {
    EXPECT_EQ(of_files[i].top.front().label, of_data[i].top.front().label);
    // A batch of one and a batch of six may add in another order.
    EXPECT_NEAR(of_files[i].top.front().probability, of_data[i].top.front().probability, 1e-5);
  }
}

TEST_F(ClassFolderRun, EachBackboneTakesImagesThatAreNotSquare) {
  const std::string pyramid =
      "embed_dims = [8, 8, 16, 16]\ndepths = [1, 1, 1, 1]\nnum_heads = [1, 1, 2, 2]\nmlp_ratios = [1, 1, 1, 1]\n";
  for (const auto& [name, model] : std::map<std::string, std::string>{
           {"vit_tiny_patch16_224", kSmallVit},
           {"pvt_tiny", pyramid},
           {"pvt_v2_b0", pyramid},
           {"swin_tiny_patch4_window7_224",
            "embed_dim = 8\ndepths = [2, 2, 1, 1]\nnum_heads = [1, 2, 2, 4]\nwindow_size = 4\n"},
           {"t2t_vit_14", "embed_dim = 16\ndepth = 1\nnum_heads = 2\ntoken_dim = 8\n"}}) {
    SCOPED_TRACE(name);
    const std::string text = recipe("name = \"" + name + "\"\n" + model);
    auto read = config::Document::from_text(text, "folders.toml");
    for (const char* setting : {"data.resize.image_size=[64, 96]", "model.cache.kind=grc", "train.limit=\"2 steps\""})
      read.set(setting);
    const RecipePlan plan = read_recipe(read);
    const auto task = test::as_images(plan.build());
    const models::ImageShape shape = task->classifier().image_shape();
    EXPECT_EQ(std::pair(shape.height, shape.width), std::pair(int64_t{64}, int64_t{96}));
    train::RunFolder run = train::RunFolder::create(folder_ / name, {"recipe", text}, read, {"cachet", "train"});
    EXPECT_EQ(train::Trainer(*task, plan.training, run, nullptr).run().step, 2);
    const auto given = test::given_predictions(*task, {(folder_ / "images/val/a/1.jpg").string()}, 7);
    EXPECT_EQ(given.at(0).top.size(), 7U);
  }
}

TEST_F(ClassFolderRun, WhatDoesNotFitIsNamed) {
  EXPECT_NE(test::thrown_message<std::runtime_error>([&] { task({"data.classes=1000"}); }).find("set data.classes = 7"),
            std::string::npos);
  EXPECT_NE(test::thrown_message<std::invalid_argument>([&] { task({"model.classes=10"}); }).find("7 classes"),
            std::string::npos);
  EXPECT_NE(
      test::thrown_message<config::Error>([&] { task({"data.normalization.source=data"}); }).find("set mean and std"),
      std::string::npos);
  EXPECT_NE(test::thrown_message<config::Error>([&] { task({"data.augmentation.crop=padded"}); }).find("the same size"),
            std::string::npos);
  EXPECT_NE(
      test::thrown_message<std::invalid_argument>([&] { task({"train.batch_size=22"}); }).find("21 training images"),
      std::string::npos);
}

TEST_F(ClassFolderRun, GreyModelsSeeGreyImages) {
  const auto run = task({"data.channels=1"});
  EXPECT_EQ(run->classifier().image_shape().channels, 1);
  EXPECT_EQ(run->normalization().mean.size(), 1u);
  run->model().eval();
  EXPECT_GT(run->evaluate([](int64_t, int64_t) {}).find("loss").value(), 0);
}

}  // namespace
}  // namespace cachet::tasks
