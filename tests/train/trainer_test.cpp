#include "cachet/train/trainer.h"

#include <ATen/ops/matmul.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include "cachet/io/files/read_file.h"
#include "cachet/train/checkpoints/checkpoint_store.h"
#include "cachet/train/runs/run_status.h"
#include "tests/support/temporary_directory.h"
#include "tests/train/toy_run.h"

namespace cachet::train {
namespace {

namespace fs = std::filesystem;
using test::TemporaryDirectory;
using test::ToyHooks;
using test::train_toy;

TEST(Trainer, LeavesARunFolderThatSaysEverything) {
  const TemporaryDirectory folder;
  std::vector<bool> reports;
  ToyHooks hooks;
  hooks.report = [&](const Status& status) { reports.push_back(status.running); };
  const Outcome outcome = train_toy(folder / "run", hooks);
  EXPECT_EQ(outcome.ending, StopReason::finished);
  EXPECT_EQ(outcome.exit_code(), 0);
  EXPECT_EQ(outcome.step, 12);
  EXPECT_GT(outcome.metrics.find("top1").value(), 0.5) << "nothing was learnt";
  EXPECT_EQ(reports, (std::vector<bool>{true, true, true, false}));
  for (const char* name : {"recipe.toml", "resolved.toml", "command.txt", "environment.json", "log.txt",
                           "metrics.jsonl", "summary.csv", "run.json", "checkpoints/last", "checkpoints/best"}) {
    EXPECT_TRUE(fs::exists(folder / "run" / name)) << name;
  }
  EXPECT_TRUE(fs::is_symlink(folder / "latest"));
  const std::vector<Event> events = read_events(folder / "run" / "metrics.jsonl");
  int evaluations = 0;
  for (const Event& event : events) {
    if (event.kind == Event::Kind::evaluation) {
      ++evaluations;
      continue;
    }
    for (const char* name : {"loss", "top1", "lr", "grad_norm"}) EXPECT_TRUE(event.metrics.find(name)) << name;
    for (const char* name : {"seconds", "samples_per_second", "data_wait", "memory_bytes", "seconds_left"}) {
      EXPECT_TRUE(event.machine.find(name)) << name;
    }
    EXPECT_EQ(event.series.at(0).values.size(), 2U);
  }
  EXPECT_EQ(evaluations, 3);
  EXPECT_EQ(events.size(), 9U);
}

/// Every file of a run that is open for writing while it is trained or resumed, as a link to a file of another owner.
TEST(Trainer, NoFileOfARunIsWrittenThroughALink) {
  for (const char* name : {"metrics.jsonl", "log.txt", "command.txt", "changes.txt", "evaluation.jsonl"}) {
    const TemporaryDirectory folder;
    train_toy(folder / "run", {}, {"train.epochs=1"});
    std::ofstream(folder / "of_somebody") << "as it was";
    const fs::path file = folder / "run" / name;
    fs::remove(file);
    fs::create_symlink("../of_somebody", file);
    std::string message;
    try {
      train_toy(folder / "run", {}, {"train.epochs=2"});
    } catch (const std::runtime_error& error) {
      message = error.what();
    }
    EXPECT_EQ(io::read_text_file(folder / "of_somebody", 100), "as it was") << name;
    const bool is_needed = std::string_view(name) != "log.txt" && std::string_view(name) != "evaluation.jsonl";
    EXPECT_EQ(message.find(file.string() + ": is a symbolic link") != std::string::npos, is_needed)
        << name << ": " << message;
  }
}

TEST(Trainer, FilesThatAreReplacedReplaceALink) {
  for (const char* name : {"status.json", "run.json", "resolved.toml", "environment.json", "summary.csv", "report.html",
                           "evaluation.json", "checkpoints/last", "checkpoints/best"}) {
    const TemporaryDirectory folder;
    train_toy(folder / "run", {}, {"train.epochs=1"});
    const fs::path file = folder / "run" / name;
    const std::string before = fs::exists(file) ? io::read_text_file(file, 1 << 24) : "";
    std::ofstream(folder / "of_somebody") << before;
    fs::remove(file);
    fs::create_symlink(folder / "of_somebody", file);
    train_toy(folder / "run", {}, {"train.epochs=2"});
    EXPECT_EQ(io::read_text_file(folder / "of_somebody", 1 << 24), before) << name;
  }
}

TEST(Trainer, LinksToItsFoldersWorkAsFolders) {
  const TemporaryDirectory folder;
  fs::create_directory(folder / "disk");
  fs::create_directory_symlink("disk", folder / "runs");
  train_toy(folder / "runs/run", {}, {"train.epochs=1"});
  fs::rename(folder / "disk/run/checkpoints", folder / "moved");
  fs::create_directory_symlink("../../moved", folder / "disk/run/checkpoints");
  train_toy(folder / "runs/latest", {}, {"train.epochs=2"});
  EXPECT_EQ(read_events(folder / "disk/run/metrics.jsonl").back().step, 8);
  EXPECT_TRUE(fs::exists(folder / "moved/step-00000008/manifest.json"));
}

TEST(Trainer, ARecipeFileThatIsGoneChangesNothing) {
  const TemporaryDirectory folder;
  train_toy(folder / "run", {}, {"train.epochs=1", "train.tensorboard=true"});
  fs::remove(folder / "run/recipe.toml");
  const Outcome outcome = train_toy(folder / "run", {}, {"train.epochs=2", "train.tensorboard=true"});
  EXPECT_EQ(outcome.ending, StopReason::finished);
  EXPECT_EQ(read_status(folder / "run/status.json")->step, 8);
  EXPECT_NE(io::read_text_file(folder / "run/log.txt", 1 << 20).find("recipe.toml is missing"), std::string::npos);
}

TEST(Trainer, AResumeThatCannotStartLeavesTheStatusOfTheRun) {
  const TemporaryDirectory folder;
  train_toy(folder / "run", {}, {"train.epochs=1"});
  const std::string status = io::read_text_file(folder / "run/status.json", 1 << 20),
                    page = io::read_text_file(folder / "run/report.html", 1 << 24);
  for (const auto& checkpoint : newest_checkpoints(folder / "run/checkpoints"))
    std::ofstream(checkpoint / "model.safetensors") << "damaged";
  const auto expect_same_after_a_failure = [&] {
    EXPECT_THROW(train_toy(folder / "run", {}, {"train.epochs=2"}), std::runtime_error);
    EXPECT_EQ(io::read_text_file(folder / "run/status.json", 1 << 20), status);
    EXPECT_EQ(io::read_text_file(folder / "run/report.html", 1 << 24), page);
  };
  expect_same_after_a_failure();
  fs::remove_all(folder / "run/checkpoints");
  expect_same_after_a_failure();
}

TEST(Trainer, ReadsItsMetricsOnlyWhenItStarts) {
  // With the file moved away, an evaluation that reads it would find nothing to sum up.
  const TemporaryDirectory folder;
  ToyHooks hooks;
  hooks.before_evaluation = [&] {
    const fs::path metrics = folder / "run" / "metrics.jsonl";
    if (fs::exists(metrics)) fs::rename(metrics, folder / "moved.jsonl");
  };
  train_toy(folder / "run", hooks);
  EXPECT_EQ(read_events(folder / "moved.jsonl").size(), 9U);
  std::ifstream summary(folder / "run" / "summary.csv");
  int lines = 0;
  for (std::string line; std::getline(summary, line);) ++lines;
  EXPECT_EQ(lines, 1 + 3) << "a head and three evaluations";
}

TEST(Trainer, EndsWithMeansOfMoreThanAFewSteps) {
  const auto lines = [](const std::string& limit) {
    const TemporaryDirectory folder;
    train_toy(folder / "run", {}, {"train.log_every=4 steps", "train.limit=" + limit});
    std::vector<int64_t> steps;
    for (const Event& event : read_events(folder / "run" / "metrics.jsonl"))
      if (event.kind == Event::Kind::step) steps.push_back(event.step);
    return steps;
  };
  EXPECT_EQ(lines("3 steps"), (std::vector<int64_t>{3}));
  EXPECT_EQ(lines("9 steps"), (std::vector<int64_t>{4, 9})) << "the last line takes one step more than four";
  EXPECT_EQ(lines("10 steps"), (std::vector<int64_t>{4, 8, 10})) << "half as many as usual are left";
}

TEST(Trainer, CountsEachMicroBatchInTheStateOfTheModel) {
  const TemporaryDirectory folder;
  train_toy(folder / "run");
  EXPECT_EQ(test::last_checkpoint(folder / "run").model.at("forwards").item<int64_t>(), 3 * 7);
}

TEST(Trainer, StopsAtItsBounds) {
  const TemporaryDirectory folder;
  EXPECT_EQ(train_toy(folder / "limit", {}, {"train.limit=\"5 steps\""}).step, 5);
  const Outcome early =
      train_toy(folder / "patience", {}, {"train.patience=1", "optimizer.lr=1e-12", "train.epochs=30"});
  EXPECT_EQ(early.ending, StopReason::early_stop);
  EXPECT_EQ(early.exit_code(), 0);
  EXPECT_LT(early.step, 100);
  const Outcome late = train_toy(folder / "time", {}, {"train.max_hours=1e-9", "train.epochs=1000"});
  EXPECT_EQ(late.ending, StopReason::out_of_time);
  EXPECT_TRUE(fs::exists(folder / "time" / "run.json"));
}

TEST(Trainer, CountsTheTimeOfAnEvaluationThatIsLeft) {
  const TemporaryDirectory folder;
  ToyHooks hooks;
  hooks.before_evaluation = [] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    raise(SIGINT);
  };
  EXPECT_EQ(train_toy(folder / "run", hooks).ending, StopReason::interrupted);
  EXPECT_GE(test::last_checkpoint(folder / "run").state.seconds, 0.3);
}

TEST(Trainer, TellsOfAnErrorOfLibTorchInALine) {
  const TemporaryDirectory folder;
  ToyHooks hooks;
  hooks.loss = [](at::Tensor loss) { return at::matmul(loss.reshape({1, 1}), at::zeros({2, 2})); };
  EXPECT_THROW(train_toy(folder / "run", hooks), c10::Error);
  const std::string said = read_status(folder / "run" / "status.json")->message;
  EXPECT_NE(said.find("mat1 and mat2"), std::string::npos) << said;
  EXPECT_EQ(said.find('\n'), std::string::npos) << said;
  const std::string log = io::read_text_file(folder / "run" / "log.txt", 1 << 20);
  const size_t message = log.find("mat1 and mat2");
  ASSERT_NE(message, std::string::npos) << log;
  EXPECT_NE(log.find("frame #0", message), std::string::npos) << "the log has the call stack behind it";
}

TEST(Trainer, TrainsInBfloat16WithFloat32Weights) {
  const TemporaryDirectory folder;
  ToyHooks hooks;
  EXPECT_EQ(train_toy(folder / "run", hooks, {"train.precision=bf16"}).ending, StopReason::finished);
  EXPECT_EQ(test::last_checkpoint(folder / "run").model.at("head_weight").scalar_type(), at::kFloat);
  train_toy(folder / "fp32");
  EXPECT_FALSE(test::last_checkpoint(folder / "run")
                   .model.at("head_weight")
                   .equal(test::last_checkpoint(folder / "fp32").model.at("head_weight")))
      << "autocast was not on";
}

}  // namespace
}  // namespace cachet::train
