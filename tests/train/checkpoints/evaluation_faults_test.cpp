// What a run saves, evaluates and adds to its checkpoints, interrupted at every write: it ends as if nothing had been.
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <random>
#include <stdexcept>

#include "cachet/io/error.h"
#include "cachet/io/files/read_file.h"
#include "cachet/io/json/sealed_json.h"
#include "cachet/train/checkpoints/evaluation_mark.h"
#include "cachet/train/runs/run_status.h"
#include "tests/support/bytes.h"
#include "tests/support/recording_file_system.h"
#include "tests/support/robustness.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/test_data.h"
#include "tests/support/thrown_message.h"
#include "tests/train/toy_run.h"

namespace cachet::train {
namespace {

namespace fs = std::filesystem;
using test::RecordingFileSystem;
using test::TemporaryDirectory;
using test::ToyHooks;
using test::train_toy;

std::vector<std::string> names_of_checkpoints(const fs::path& run) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(run / "checkpoints"))
    names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

/// Metrics, weights, best checkpoint, patience and saved files, to the last bit.
void expect_same_results(const fs::path& run, const fs::path& whole) {
  test::expect_same_runs(run, whole);
  EXPECT_EQ(names_of_checkpoints(run), names_of_checkpoints(whole));
  for (const char* name : {"checkpoints/best", "checkpoints/last", "evaluation.json"})
    EXPECT_EQ(test::read_bytes(run / name), test::read_bytes(whole / name)) << name;
  EXPECT_EQ(read_status(run / "status.json")->ending, read_status(whole / "status.json")->ending);
  EXPECT_EQ(read_status(run / "status.json")->step, read_status(whole / "status.json")->step);
  EXPECT_FALSE(fs::exists(run / "evaluation.jsonl"));
}

/// Metrics that get better and worse: top-1 is the best at step 8, and no checkpoint is due there.
ToyHooks up_and_down() {
  ToyHooks hooks;
  hooks.details = R"({"seen":1})";
  hooks.metrics = [](Metrics metrics) {
    // A function of what was evaluated alone, as those of a task are.
    metrics.set("top1", std::fmod(1e4 * *metrics.find("loss"), 1));
    return metrics;
  };
  return hooks;
}

/// A run that ends in its third epoch, after the checkpoint and the evaluation of step 8.
ToyHooks up_to_step_8() {
  ToyHooks hooks = up_and_down();
  hooks.before_forward = [](int64_t epoch, int64_t) {
    if (epoch == 2) throw std::runtime_error("the power is gone");
  };
  return hooks;
}

struct FaultedRun {
  const char* name;
  std::vector<std::string> settings;
};

void PrintTo(const FaultedRun& run, std::ostream* out) { *out << run.name; }

class EvaluationFaultsRobustness : public ::testing::TestWithParam<FaultedRun> {};

TEST_P(EvaluationFaultsRobustness, AKillAtAnyWriteChangesNothing) {
  const TemporaryDirectory folder;
  const std::vector<std::string>& settings = GetParam().settings;
  RecordingFileSystem recorded;
  train_toy(folder / "whole", up_and_down(), settings, recorded);
  const size_t calls = recorded.calls().size();
  ASSERT_GT(calls, 100U);
  int marks = 0;
  for (const auto& call : recorded.calls())
    marks += call.kind == RecordingFileSystem::Call::Kind::kRename && call.to.filename() == kEvaluationMarkName;
  EXPECT_GE(marks, 2) << "one for each evaluation";

  std::mt19937 chance(5);
  const auto wanted =
      static_cast<size_t>(test::robustness_cases(static_cast<int>(calls), /*share=*/0.03, /*least=*/14));
  const size_t stride = std::max<size_t>(1, calls / wanted);
  size_t runs = 0, killed = 0;
  for (size_t index = chance() % stride; index + 1 < calls; index += stride) {
    SCOPED_TRACE("killed after call " + std::to_string(index) + " of " + std::to_string(calls));
    const fs::path run = folder / "run";
    RecordingFileSystem first, second;
    first.die_after(index);
    second.die_after(chance() % 60);
    ++runs;
    try {
      train_toy(run, up_and_down(), settings, first);  // nothing passes the last write, of the status at the end
    } catch (const RecordingFileSystem::Died&) {
      ++killed;
    }
    try {
      train_toy(run, up_and_down(), settings, second);
    } catch (const RecordingFileSystem::Died&) {
    }
    train_toy(run, up_and_down(), settings);
    expect_same_results(run, folder / "whole");
    fs::remove_all(run);
    if (HasFailure()) return;
  }
  EXPECT_GE(killed + 10, runs);
}

TEST_P(EvaluationFaultsRobustness, AWriteThatFailsChangesNothingForTheResume) {
  const TemporaryDirectory folder;
  const std::vector<std::string>& settings = GetParam().settings;
  RecordingFileSystem recorded;
  train_toy(folder / "whole", up_and_down(), settings, recorded);
  const size_t calls = recorded.calls().size();
  const auto wanted = static_cast<size_t>(test::robustness_cases(static_cast<int>(calls), /*share=*/0.02, /*least=*/8));
  const size_t stride = std::max<size_t>(1, calls / wanted);
  for (size_t index = 3; index < calls; index += stride) {
    SCOPED_TRACE("call " + std::to_string(index) + " of " + std::to_string(calls) + " failed");
    const fs::path run = folder / "run";
    RecordingFileSystem failing;
    failing.fail_at(index, ENOSPC);
    try {
      train_toy(run, up_and_down(), settings, failing);  // what cannot be removed ends no run
    } catch (const io::Error&) {
    }
    train_toy(run, up_and_down(), settings);
    expect_same_results(run, folder / "whole");
    fs::remove_all(run);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Runs, EvaluationFaultsRobustness,
    ::testing::Values(FaultedRun{"EvaluationsBetweenCheckpoints",
                                 {"train.epochs=3", "train.checkpoint_every=\"3 steps\"", "train.keep=1",
                                  "train.evaluate_every=\"2 steps\"", "train.limit=\"9 steps\""}},
                      FaultedRun{"StopsEarly",
                                 {"train.epochs=9", "train.patience=2", "train.keep=2",
                                  "train.evaluate_every=\"2 steps\"", "train.checkpoint_every=\"2 steps\""}}),
    [](const auto& info) { return info.param.name; });

TEST(EvaluationFaults, AnEvaluationThatFailsLosesNoStep) {
  const TemporaryDirectory folder;
  const std::vector<std::string> settings{"train.checkpoint_every=\"3 epochs\""};
  train_toy(folder / "whole", up_and_down(), settings);
  ToyHooks broken = up_and_down();
  int evaluations = 0;
  broken.before_evaluation = [&] {
    if (++evaluations == 2) throw std::runtime_error("val/7.png is truncated");
  };
  const fs::path run = folder / "run";
  EXPECT_EQ(test::thrown_message<std::runtime_error>([&] { train_toy(run, broken, settings); }),
            "val/7.png is truncated");
  const TrainState saved = test::last_checkpoint(run).state;
  EXPECT_EQ(saved.step, 8) << "the checkpoint was saved before the evaluation";
  EXPECT_FALSE(saved.evaluated);
  EXPECT_EQ(saved.best_step, 4);
  EXPECT_EQ(CheckpointStore(run / "checkpoints", "", 1).best()->filename(), "step-00000004") << "the earlier best";
  EXPECT_EQ(find_checkpoint(run).filename(), "step-00000004");
  const std::string log = io::read_text_file(run / "log.txt", 1 << 20);
  EXPECT_NE(log.find("the evaluation at step 8 failed. The checkpoint of this step is " +
                     (run / "checkpoints/step-00000008").string()),
            std::string::npos)
      << log;

  std::vector<int64_t> steps;
  ToyHooks mended = up_and_down();
  mended.before_forward = [&](int64_t, int64_t) { steps.push_back(evaluations); };
  mended.before_evaluation = [&] { ++evaluations; };
  evaluations = 0;
  train_toy(run, mended, settings);
  EXPECT_EQ(steps.at(0), 1) << "a resume evaluates before it trains";
  expect_same_results(run, folder / "whole");
}

TEST(EvaluationFaults, AnEvaluationWithoutTheMetricThatDecidesLosesNoStep) {
  const TemporaryDirectory folder;
  ToyHooks broken;
  broken.metrics = [](const Metrics&) { return Metrics{{"loss", 1.0}}; };
  EXPECT_NE(test::thrown_message<std::runtime_error>([&] { train_toy(folder / "run", broken); }).find("\"top1\""),
            std::string::npos);
  EXPECT_EQ(test::last_checkpoint(folder / "run").state.step, 4);
  EXPECT_EQ(train_toy(folder / "run").ending, StopReason::finished);
}

TEST(EvaluationFaults, WhatAnEvaluationAddsWritesNoWeights) {
  const TemporaryDirectory folder;
  RecordingFileSystem recorded;
  train_toy(folder / "run", up_and_down(), {}, recorded);
  int weights = 0;
  for (const auto& call : recorded.calls()) weights += call.creates && call.path.filename() == "model.safetensors";
  EXPECT_EQ(weights, 3) << "three epochs, each with a checkpoint and an evaluation";
}

TEST(EvaluationFaults, ADamagedMarkIsWorkedOutAgain) {
  const TemporaryDirectory folder;
  train_toy(folder / "whole", up_and_down());
  for (const std::string text : {"", "{}", "{\"schema\":1}", "torn"}) {
    EXPECT_THROW(train_toy(folder / "run", up_to_step_8()), std::runtime_error);
    const fs::path mark = folder / "run/checkpoints/step-00000008" / kEvaluationMarkName;
    ASSERT_TRUE(fs::exists(mark));
    test::write_bytes(mark, text);
    train_toy(folder / "run", up_and_down());
    EXPECT_NE(test::read_bytes(folder / "run/log.txt").find("is repeated: " + mark.string()), std::string::npos);
    expect_same_results(folder / "run", folder / "whole");
    fs::remove_all(folder / "run");
  }
}

TEST(EvaluationFaults, AMarkOfANewerCachetIsRefused) {
  const TemporaryDirectory folder;
  train_toy(folder / "run", {}, {"train.limit=\"4 steps\""});
  const fs::path mark = folder / "run/checkpoints/step-00000004" / kEvaluationMarkName;
  test::write_bytes(mark, io::sealed_json(R"({"schema":7,"more":true})"));
  const std::string said = test::thrown_message<std::runtime_error>([&] { train_toy(folder / "run"); });
  EXPECT_EQ(
      said,
      mark.string() +
          ": its schema is 7, but this version of Cachet reads only schemas up to 1; use a newer version of Cachet");
}

TEST(EvaluationMark, BelongsToOneCheckpoint) {
  const TemporaryDirectory folder;
  Checkpoint checkpoint;
  checkpoint.model = {{"weight", at::zeros({2})}};
  checkpoint.state.step = 4;
  write_checkpoint(folder / "step-00000004", checkpoint, "run");
  checkpoint.state.step = 8;
  write_checkpoint(folder / "step-00000008", checkpoint, "run");
  EXPECT_EQ(read_evaluation_mark(folder / "step-00000004"), std::nullopt);
  const EvaluationMark mark{true, 0.1 + 0.2, 1.0 / 3, 4, 0};
  write_evaluation_mark(folder / "step-00000004", mark);
  EXPECT_EQ(read_evaluation_mark(folder / "step-00000004"), mark) << "to the last bit";
  EXPECT_EQ(read_checkpoint(folder / "step-00000004").state.best, 1.0 / 3);
  EXPECT_TRUE(read_checkpoint_state(folder / "step-00000004").evaluated);
  fs::copy(folder / "step-00000004" / kEvaluationMarkName, folder / "step-00000008");
  EXPECT_NE(test::thrown_message<io::Error>([&] {
              read_evaluation_mark(folder / "step-00000008");
            }).find("belongs to another checkpoint"),
            std::string::npos);
  EXPECT_FALSE(read_checkpoint(folder / "step-00000008").state.evaluated);
  fs::rename(folder / "step-00000004", folder / "moved");
  EXPECT_EQ(read_evaluation_mark(folder / "moved"), mark) << "a folder that was renamed stays what it was";
  remove_checkpoint(folder / "moved");
  EXPECT_FALSE(fs::exists(folder / ".moved.removed")) << "the mark goes with its checkpoint";
}

/// A run that cachet 0.1.0 left, killed after step 22, whose newest checkpoint is of step 20: its state.json has what
/// the evaluations found. The best one is step 16.
TEST(OldCheckpoint, OfVersion010Resumes) {
  const TemporaryDirectory folder;
  fs::copy(fs::path(test::test_data()) / "saved_by_0_1_0/toy", folder / "run", fs::copy_options::recursive);
  const std::vector<std::string> settings{"train.epochs=15", "train.checkpoint_every=\"2 steps\"", "train.keep=2",
                                          "train.patience=3"};
  const std::string before = test::events_text(folder / "run");
  const TrainState saved = test::last_checkpoint(folder / "run").state;
  EXPECT_EQ(saved.step, 20);
  EXPECT_TRUE(saved.evaluated);
  EXPECT_EQ(saved.best_step, 16);
  EXPECT_EQ(saved.evaluations_since_best, 1);
  std::vector<int64_t> evaluated;
  ToyHooks hooks;
  hooks.before_evaluation = [&] { evaluated.push_back(1); };
  const Outcome outcome = train_toy(folder / "run", hooks, settings);
  EXPECT_EQ(outcome.ending, StopReason::early_stop) << "its patience counts on";
  EXPECT_EQ(outcome.step, 28);
  EXPECT_EQ(evaluated.size(), 2U) << "what it had evaluated is not evaluated again";
  const std::string after = test::events_text(folder / "run");
  EXPECT_EQ(after.substr(0, before.rfind("{\"schema\":1,\"kind\":\"step\",\"step\":22")),
            before.substr(0, before.rfind("{\"schema\":1,\"kind\":\"step\",\"step\":22")));
  EXPECT_EQ(CheckpointStore(folder / "run/checkpoints", "", 1).best()->filename(), "step-00000016");
  EXPECT_TRUE(fs::exists(folder / "run/checkpoints/step-00000016/manifest.json"));
}

}  // namespace
}  // namespace cachet::train
