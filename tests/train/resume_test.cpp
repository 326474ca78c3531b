#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>

#include "cachet/io/digests/sha256.h"
#include "cachet/io/files/read_file.h"
#include "cachet/train/checkpoints/manifest.h"
#include "tests/support/environment_variable.h"
#include "tests/support/temporary_directory.h"
#include "tests/train/toy_run.h"

namespace cachet::train {
namespace {

using test::TemporaryDirectory;
using test::ToyHooks;
using test::train_toy;

struct ResumeCrash : std::runtime_error {
  ResumeCrash() : std::runtime_error("the power went") {}
};

/// Ctrl-C, or another signal, in the forward pass of a micro-batch; with two a step, batch 2 begins a step and batch 3
/// is its second half.
ToyHooks interrupt_at(int64_t epoch, int64_t batch, int signal = SIGINT) {
  ToyHooks hooks;
  hooks.before_forward = [=](int64_t at_epoch, int64_t at_batch) {
    if (at_epoch == epoch && at_batch == batch) raise(signal);
  };
  return hooks;
}

ToyHooks crash_at(int64_t epoch, int64_t batch) {
  ToyHooks hooks;
  hooks.before_forward = [=](int64_t at_epoch, int64_t at_batch) {
    if (at_epoch == epoch && at_batch == batch) throw ResumeCrash();
  };
  return hooks;
}

/// Where a run is cut: a list of stops, each followed by a resume.
struct ResumeCase {
  std::string name;
  std::vector<ToyHooks> stops;
  bool crashes = false;
};

std::vector<ResumeCase> resume_cases() {
  ToyHooks after_evaluation, in_evaluation;
  after_evaluation.after_evaluation = [] { raise(SIGTERM); };
  in_evaluation.before_evaluation = [] { raise(SIGINT); };
  return {{"mid_epoch", {interrupt_at(1, 2)}},
          {"epoch_boundary", {interrupt_at(0, 6)}},
          {"mid_accumulation", {crash_at(1, 3)}, true},
          {"twice_in_an_epoch", {interrupt_at(1, 0), interrupt_at(1, 5)}},
          {"after_evaluation", {after_evaluation}},
          {"during_evaluation", {in_evaluation}},
          {"terminal_gone", {interrupt_at(0, 3, SIGHUP)}},
          {"told_to_quit", {interrupt_at(1, 1, SIGQUIT)}}};
}

class ResumeMatrix : public ::testing::TestWithParam<int> {};

TEST_P(ResumeMatrix, IsBitExact) {
  const std::vector<std::string> workers{"data.workers=" + std::to_string(GetParam())};
  const TemporaryDirectory folder;
  ASSERT_EQ(train_toy(folder / "whole").ending, StopReason::finished);
  for (const ResumeCase& test_case : resume_cases()) {
    SCOPED_TRACE(test_case.name);
    const auto run = folder / test_case.name;
    for (const ToyHooks& hooks : test_case.stops) {
      if (test_case.crashes) {
        EXPECT_THROW(train_toy(run, hooks, workers), ResumeCrash);
      } else {
        const Outcome outcome = train_toy(run, hooks, workers);
        EXPECT_EQ(outcome.ending, StopReason::interrupted);
        EXPECT_EQ(outcome.exit_code(), 130);
        EXPECT_NE(outcome.message.find(run.string() + " --resume"), std::string::npos) << outcome.message;
      }
    }
    const Outcome outcome = train_toy(run, {}, workers);
    EXPECT_EQ(outcome.ending, StopReason::finished);
    EXPECT_EQ(outcome.step, 12);
    test::expect_same_runs(folder / "whole", run);
  }
}

INSTANTIATE_TEST_SUITE_P(Workers, ResumeMatrix, ::testing::Values(0, 2, 4),
                         [](const auto& info) { return std::to_string(info.param); });

// As nohup starts a program.
TEST(Resume, ASignalThatIsIgnoredStaysIgnored) {
  const TemporaryDirectory folder;
  const auto before = signal(SIGHUP, SIG_IGN);
  const Outcome outcome = train_toy(folder / "run", interrupt_at(1, 2, SIGHUP));
  EXPECT_EQ(signal(SIGHUP, before), SIG_IGN);
  EXPECT_EQ(outcome.ending, StopReason::finished);
}

TEST(Resume, TakesTheThreadsThatTheRunHad) {
  const TemporaryDirectory folder;
  const std::vector<std::string> any{"train.threads=0"};
  const int before = at::get_num_threads();
  const auto train_where = [&](const char* threads, const ToyHooks& hooks) {
    const test::EnvironmentVariable asked("OMP_NUM_THREADS", threads);
    return train_toy(folder / "run", hooks, any).ending;
  };
  EXPECT_EQ(train_where("2", interrupt_at(1, 2)), StopReason::interrupted);
  EXPECT_EQ(train_where("1", {}), StopReason::finished);
  EXPECT_EQ(at::get_num_threads(), 2);
  EXPECT_EQ(test::last_checkpoint(folder / "run").state.threads, 2);
  at::set_num_threads(before);
}

TEST(Resume, ACheckpointComesByTheClock) {
  const TemporaryDirectory folder;
  const std::vector<std::string> seldom{"train.checkpoint_every=\"100 epochs\"", "train.evaluate_every=\"100 epochs\"",
                                        "train.keep=100"};
  train_toy(folder / "seldom", {}, seldom);
  std::vector<std::string> by_the_clock = seldom;
  by_the_clock.push_back("train.save_minutes=1e-9");
  train_toy(folder / "clock", {}, by_the_clock);
  EXPECT_EQ(newest_checkpoints(folder / "seldom/checkpoints").size(), 1u) << "the last";
  EXPECT_EQ(newest_checkpoints(folder / "clock/checkpoints").size(), 12u);
}

TEST(Resume, StartsAnewWhereNothingWasSaved) {
  const TemporaryDirectory folder;
  train_toy(folder / "whole");
  EXPECT_THROW(train_toy(folder / "cut", crash_at(0, 4)), ResumeCrash);
  EXPECT_EQ(train_toy(folder / "cut").ending, StopReason::finished);
  test::expect_same_runs(folder / "whole", folder / "cut");
}

TEST(Resume, ALongerRunGoesOnFromAFinishedOne) {
  const TemporaryDirectory folder;
  const std::vector<std::string> constant{"schedule.kind=constant"};
  train_toy(folder / "whole", {}, {"train.epochs=5", "schedule.kind=constant"});
  EXPECT_EQ(train_toy(folder / "cut", {}, constant).step, 12);
  EXPECT_EQ(train_toy(folder / "cut", {}, constant).step, 12) << "a finished run has nothing left to do";
  const Outcome outcome = train_toy(folder / "cut", {}, {"train.epochs=5", "schedule.kind=constant"});
  EXPECT_EQ(outcome.step, 20);
  test::expect_same_runs(folder / "whole", folder / "cut");
}

TEST(Resume, MilestonesStandWhereTheyStood) {
  const TemporaryDirectory folder;
  const std::vector<std::string> steps{"schedule.kind=step", "schedule.milestones=[\"5 steps\", \"2 epochs\"]",
                                       "schedule.warmup=\"3 steps\"", "train.checkpoint_every=\"2 steps\""};
  train_toy(folder / "whole", {}, steps);
  EXPECT_THROW(train_toy(folder / "cut", crash_at(1, 4), steps), ResumeCrash);
  EXPECT_EQ(train_toy(folder / "cut", {}, steps).ending, StopReason::finished);
  test::expect_same_runs(folder / "whole", folder / "cut");
}

TEST(Resume, RefusesACheckpointOfAnotherRecipe) {
  const TemporaryDirectory folder;
  train_toy(folder / "one");
  train_toy(folder / "two", {}, {"optimizer.lr=0.02"});
  std::filesystem::remove_all(folder / "one" / "checkpoints");
  std::filesystem::copy(folder / "two" / "checkpoints", folder / "one" / "checkpoints",
                        std::filesystem::copy_options::recursive);
  EXPECT_THROW(train_toy(folder / "one"), std::runtime_error);
}

/// Takes a field out of the newest checkpoint's state, as runs have it that began before there was one.
void forget_field(const std::filesystem::path& run, const std::string& field) {
  const std::filesystem::path folder = *CheckpointStore(run / "checkpoints", "", 1).last();
  auto json = nlohmann::ordered_json::parse(io::read_text_file(folder / "state.json", 1 << 20));
  ASSERT_EQ(json.erase(field), 1U);
  const std::string text = json.dump(2) + "\n";
  Manifest manifest = read_manifest(folder);
  manifest.files["state.json"] = {text.size(), io::sha256_hex(std::as_bytes(std::span(text)))};
  std::ofstream(folder / "state.json") << text;
  std::ofstream(folder / "manifest.json") << to_json(manifest);
}

TEST(Resume, ARunKeepsTheMeaningOfItsLossColumn) {
  const TemporaryDirectory folder;
  ToyHooks hooks;
  hooks.penalty = [](const test::ToyModel& model) { return (model.weight_ * 0).sum() + 1000; };
  const auto last_line = [&](const std::string& run) {
    Metrics metrics;
    for (const Event& event : read_events(folder / run / "metrics.jsonl"))
      if (event.kind == Event::Kind::step) metrics = event.metrics;
    return metrics;
  };
  const auto log = [&](const std::string& run) { return io::read_text_file(folder / run / "log.txt", 1 << 20); };
  for (const std::string run : {"now", "before"}) train_toy(folder / run, hooks, {"train.limit=\"4 steps\""});
  EXPECT_LT(last_line("now").find("loss").value(), 10);
  EXPECT_EQ(last_line("now").find("penalty"), 1000);
  forget_field(folder / "before", "penalty_in_loss");
  // Twice, so that what the first resume saves counts for the second.
  for (const char* limit : {"train.limit=\"8 steps\"", "train.limit=\"12 steps\""}) {
    for (const std::string run : {"now", "before"}) train_toy(folder / run, hooks, {limit});
    EXPECT_LT(last_line("now").find("loss").value(), 10);
    EXPECT_EQ(last_line("now").find("penalty"), 1000);
    EXPECT_GT(last_line("before").find("loss").value(), 1000);
    EXPECT_EQ(last_line("before").find("penalty"), std::nullopt);
  }
  EXPECT_EQ(log("now").find("penalties"), std::string::npos);
  EXPECT_NE(log("before").find("the training loss includes the penalties"), std::string::npos);
  test::expect_same_tensors(test::last_checkpoint(folder / "now").model,
                            test::last_checkpoint(folder / "before").model);
}

}  // namespace
}  // namespace cachet::train
