// Training and evaluating images in tar shards.
#include <gtest/gtest.h>

#include <string>

#include "cachet/config/problem.h"
#include "cachet/io/files/read_file.h"
#include "cachet/tasks/classification/prediction.h"
#include "cachet/tasks/recipe.h"
#include "cachet/train/checkpoints/checkpoint.h"
#include "cachet/train/checkpoints/checkpoint_store.h"
#include "cachet/train/machine/process_setup.h"
#include "cachet/train/runs/event_curves.h"
#include "cachet/train/runs/event_log.h"
#include "cachet/train/runs/run_folder.h"
#include "cachet/train/step/live_run.h"
#include "cachet/train/trainer.h"
#include "tests/support/checkpoints.h"
#include "tests/support/step_executors.h"
#include "tests/support/tar_files.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"
#include "tests/support/written_class_folders.h"
#include "tests/support/written_shards.h"
#include "tests/tasks/tiny_images.h"

namespace cachet::tasks {
namespace {

constexpr const char* kShardRecipeText = "[data]\nkind = \"shards\"\n";

class ShardRun : public ::testing::Test {
 protected:
  ShardRun() {
    test::write_class_folders(folder_ / "images", {"a", "b", "c"}, 8, 2);
    test::write_shards_of(folder_ / "images", root(), 3);
  }
  std::filesystem::path root() const { return folder_ / "shards"; }

  config::Document document(const std::vector<std::string>& settings = {}) const {
    return document("kind = \"shards\"\nwindow = 7\nroot = \"" + root().string() + "\"", settings);
  }
  static config::Document document(const std::string& data, const std::vector<std::string>& settings) {
    const std::string text = "[data]\n" + data + R"(
classes = 3
workers = 0
[data.resize]
image_size = 16
[data.augmentation]
flip = 0.5
[model]
name = "vit_tiny_patch16_224"
patch_size = 8
embed_dim = 16
depth = 1
num_heads = 2
[train]
epochs = 3
batch_size = 5
threads = 1
checkpoint_every = "2 steps"
)";
    config::Document document = config::Document::from_text(text, "shards.toml");
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
    train::prepare_process(plan.training.train);
    const auto task = plan.build();
    const std::filesystem::path path = folder_ / run;
    train::RunFolder folder =
        std::filesystem::exists(path)
            ? train::RunFolder::resume(path, read, {"cachet", "train", "--resume"})
            : train::RunFolder::create(path, {"recipe", kShardRecipeText}, read, {"cachet", "train"});
    return train::Trainer(*task, plan.training, folder, nullptr).run();
  }
  train::Checkpoint last(const std::string& run) const {
    return train::read_checkpoint(*train::CheckpointStore(folder_ / run / "checkpoints", "", 1).last());
  }

  test::TemporaryDirectory folder_;
};

TEST_F(ShardRun, ResumesWithinAnEpochBitByBitWhateverTheWorkers) {
  const std::string constant = "schedule.kind=constant";  // the limit would end another schedule
  EXPECT_EQ(trained("whole", {constant}).step, 12);
  trained("parts", {constant, "train.limit=6 steps", "data.workers=2"});  // in the middle of the second epoch
  EXPECT_EQ(last("parts").state.step, 6);
  EXPECT_EQ(trained("parts", {constant}).step, 12);
  const train::Checkpoint whole = last("whole"), parts = last("parts");
  test::expect_same_tensors(whole.model, parts.model);
  test::expect_same_tensors(whole.optimizer, parts.optimizer);
}

TEST_F(ShardRun, TheWindowChangesTheOrder) {
  trained("seven");
  trained("all", {"data.window=1000"});
  const train::Checkpoint seven = last("seven"), all = last("all");
  EXPECT_FALSE(seven.model.at("head.weight").equal(all.model.at("head.weight")));
}

TEST_F(ShardRun, EvaluatesAsTheClassFoldersDo) {
  const auto shards = task();
  config::Document read = document("kind = \"class_folders\"\nroot = \"" + (folder_ / "images").string() + "\"", {});
  const auto folders = test::as_images(read_recipe(read).build());
  const auto losses = [](ImageClassification& task) {
    torch::manual_seed(1);
    for (at::Tensor& parameter : task.model().parameters()) {
      const at::NoGradGuard no_grad;
      parameter.normal_(0, 0.1);
    }
    task.model().eval();
    return task.evaluate([](int64_t, int64_t) {});
  };
  const train::Metrics of_shards = losses(*shards), of_folders = losses(*folders);
  EXPECT_EQ(of_shards.find("loss").value(), of_folders.find("loss").value());
  EXPECT_EQ(of_shards.find("top1").value(), of_folders.find("top1").value());
}

class DamagedShardRun : public ShardRun {
 protected:
  DamagedShardRun() {
    for (const auto& entry : std::filesystem::directory_iterator(root())) std::filesystem::remove(entry.path());
    write("train-0.tar", 10, 3);
    write("val-0.tar", 5, 1);
  }
  /// Writes a shard of `count` samples. The image of one sample is damaged.
  void write(const std::string& name, int count, int damaged) const {
    std::vector<test::TarPart> parts;
    for (int i = 0; i < count; ++i) {
      parts.push_back({std::to_string(i) + ".jpg", i == damaged ? "damaged" : test::jpeg_file(20 + i, 30)});
      parts.push_back({std::to_string(i) + ".cls", std::to_string(i % 3)});
    }
    test::write_bytes(root() / name, test::tar_archive(parts));
  }
};

TEST_F(DamagedShardRun, StopsAndNamesTheImage) {
  const std::string message = test::thrown_message<std::runtime_error>([&] { trained("run"); });
  EXPECT_NE(message.find("train-0.tar: 3.jpg: "), std::string::npos) << message;
  EXPECT_NE(message.find("data.on_bad_image = \"skip\""), std::string::npos) << message;
}

TEST_F(DamagedShardRun, SkipsTheImageInTrainingAndEvaluation) {
  EXPECT_EQ(trained("run", {"data.on_bad_image=skip"}).step, 6);
  const auto run = task({"data.on_bad_image=skip", "train.batch_size=2"});
  run->model().eval();
  const train::Metrics metrics = run->evaluate([](int64_t, int64_t) {});
  std::vector<Prediction> predictions;
  run->predict(0, {}, [&](const Prediction& prediction) { predictions.push_back(prediction); });
  ASSERT_EQ(predictions.size(), 5u);
  for (int64_t i = 0; i < 5; ++i) {
    EXPECT_EQ(predictions[static_cast<size_t>(i)].index, i);
    EXPECT_EQ(predictions[static_cast<size_t>(i)].label, i % 3);
    EXPECT_EQ(predictions[static_cast<size_t>(i)].problem.empty(), i != 1);
  }
  std::vector<Record> records;
  run->record_evaluation(0, [&](const Record& record) { records.push_back(record); });
  ASSERT_EQ(records.size(), 5u);
  std::vector<Record> later;
  run->record_evaluation(2, [&](const Record& record) { later.push_back(record); });
  EXPECT_EQ(later, std::vector<Record>(records.begin() + 2, records.end()));
  size_t next = 0;
  const auto read = [&] { return next < records.size() ? std::optional(records[next++]) : std::nullopt; };
  const train::Metrics again = run->evaluate_records(read);
  for (const char* name : {"loss", "top1", "skipped"}) EXPECT_EQ(metrics.find(name).value(), again.find(name).value());
  EXPECT_EQ(metrics.find("skipped"), 1);
  EXPECT_EQ(run->data_notes().size(), 1u);
}

TEST_F(DamagedShardRun, ABatchWithoutAnyImageIsAStepOfWeightZero) {
  write("train-0.tar", 2, 1);
  EXPECT_EQ(trained("run", {"data.on_bad_image=skip", "train.batch_size=1", "train.epochs=2"}).step, 4);
}

TEST_F(DamagedShardRun, AReplayedBatchWithoutAnyImageIsAStepOfWeightZero) {
  write("train-0.tar", 6, 1);
  config::Document read = document({"data.on_bad_image=skip", "train.batch_size=1", "train.epochs=4"});
  const RecipePlan plan = read_recipe(read);
  train::prepare_process(plan.training.train);
  const auto run = [&](std::unique_ptr<train::StepExecutor> executor) {
    at::manual_seed(1);
    const auto task = plan.build();
    train::LiveRun live(*task, plan.training, nullptr, std::move(executor));
    for (int64_t i = 0; i < live.total_steps(); ++i) live.advance();
    live.settle();
    return live.capture();
  };
  const train::Checkpoint plain = run(nullptr), replayed = run(std::make_unique<test::ReplayExecutor>());
  EXPECT_EQ(plain.state.step, 24);
  test::expect_same_tensors(plain.model, replayed.model);
  test::expect_same_tensors(plain.optimizer, replayed.optimizer);
  EXPECT_EQ(plain.state.samples, replayed.state.samples);
}

TEST_F(DamagedShardRun, TheIntervalIsThatOfTheCountedImages) {
  trained("run", {"data.on_bad_image=skip"});
  const train::RunFolder folder = train::RunFolder::open(folder_ / "run");
  const train::Metrics last = train::last_evaluation(train::read_events(folder.metrics()));
  EXPECT_EQ(last.find("skipped"), 1);
  const train::RunDescription run = *folder.description();
  EXPECT_EQ(run.evaluated, 5);
  EXPECT_EQ(run.samples_of(run.metrics.front(), last), 4);
}

TEST_F(DamagedShardRun, WithoutAnImageTheRunAndTheEvaluationFail) {
  write("train-0.tar", 1, 0);
  const std::string training = test::thrown_message<std::runtime_error>([&] {
    trained("run", {"data.on_bad_image=skip", "train.batch_size=1"});
  });
  EXPECT_NE(training.find("epoch 1 trained on no image"), std::string::npos) << training;
  EXPECT_FALSE(train::CheckpointStore(folder_ / "run" / "checkpoints", "", 1).last());
  write("val-0.tar", 1, 0);
  const auto run = task({"data.on_bad_image=skip", "train.batch_size=1"});
  run->model().eval();
  const std::string message = test::thrown_message<std::runtime_error>([&] { run->evaluate([](int64_t, int64_t) {}); });
  EXPECT_NE(message.find("none of the 1 test images could be read; repair or replace them. The first one: "),
            std::string::npos)
      << message;
}

TEST_F(DamagedShardRun, AStoppedRunContinuesWithoutTheImage) {
  write("train-0.tar", 10, /*damaged=*/-1);
  write("val-0.tar", 5, /*damaged=*/-1);
  trained("run", {"train.limit=3 steps", "schedule.kind=constant"});
  const auto damaged = std::filesystem::last_write_time(root() / "train-0.tar");
  std::string bytes = test::read_bytes(root() / "train-0.tar");
  std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(bytes.find("3.jpg")) + 512, 300, '\0');
  test::write_bytes(root() / "train-0.tar", bytes);
  std::filesystem::last_write_time(root() / "train-0.tar", damaged);
  EXPECT_NE(test::thrown_message<std::runtime_error>([&] {
              trained("run", {"schedule.kind=constant"});
            }).find("data.on_bad_image = \"skip\""),
            std::string::npos);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(trained("run", {"schedule.kind=constant", "data.on_bad_image=skip"}).step, 6);
  EXPECT_NE(test::thrown_message<std::runtime_error>([&] {
              trained("run", {"schedule.kind=constant"});
            }).find("data.on_bad_image: \"skip\" -> \"stop\""),
            std::string::npos);
}

TEST_F(ShardRun, KeysOfOtherKindsAreRefused) {
  const auto refusal = [&](const char* setting) {
    return test::thrown_message<config::Error>([&] { task({setting}); });
  };
  EXPECT_NE(refusal("data.train_folder=a").find("train_folder"), std::string::npos);
  EXPECT_NE(refusal("data.window=0").find("window"), std::string::npos);
  EXPECT_NE(refusal("data.on_bad_image=ignore").find("on_bad_image"), std::string::npos);
  EXPECT_NE(refusal("data.train_shards=\"\"").find("must not be empty"), std::string::npos);
}

}  // namespace
}  // namespace cachet::tasks
