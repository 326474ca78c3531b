#include <gtest/gtest.h>
#include <signal.h>

#include <stdexcept>

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

/// Ctrl-C in the forward pass of a micro-batch; with two a step, batch 2 begins a step and batch 3 is its second half.
ToyHooks interrupt_at(int64_t epoch, int64_t batch) {
  ToyHooks hooks;
  hooks.before_forward = [=](int64_t at_epoch, int64_t at_batch) {
    if (at_epoch == epoch && at_batch == batch) raise(SIGINT);
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
  return {{"mid_epoch", {interrupt_at(1, 2)}},          {"epoch_boundary", {interrupt_at(0, 6)}},
          {"mid_accumulation", {crash_at(1, 3)}, true}, {"twice_in_an_epoch", {interrupt_at(1, 0), interrupt_at(1, 5)}},
          {"after_evaluation", {after_evaluation}},     {"during_evaluation", {in_evaluation}}};
}

class ResumeMatrix : public testing::TestWithParam<int> {};

TEST_P(ResumeMatrix, IsBitExact) {
  const std::vector<std::string> workers{"data.workers=" + std::to_string(GetParam())};
  const TemporaryDirectory folder;
  ASSERT_EQ(train_toy(folder / "whole").ending, Ending::finished);
  for (const ResumeCase& test_case : resume_cases()) {
    SCOPED_TRACE(test_case.name);
    const auto run = folder / test_case.name;
    for (const ToyHooks& hooks : test_case.stops) {
      if (test_case.crashes) {
        EXPECT_THROW(train_toy(run, hooks, workers), ResumeCrash);
      } else {
        const Outcome outcome = train_toy(run, hooks, workers);
        EXPECT_EQ(outcome.ending, Ending::interrupted);
        EXPECT_EQ(outcome.exit_code(), 130);
        EXPECT_NE(outcome.message.find(run.string() + " --resume"), std::string::npos) << outcome.message;
      }
    }
    const Outcome outcome = train_toy(run, {}, workers);
    EXPECT_EQ(outcome.ending, Ending::finished);
    EXPECT_EQ(outcome.step, 12);
    test::expect_same_runs(folder / "whole", run);
  }
}

INSTANTIATE_TEST_SUITE_P(Workers, ResumeMatrix, testing::Values(0, 2, 4));

TEST(Resume, StartsAnewWhereNothingWasSaved) {
  const TemporaryDirectory folder;
  train_toy(folder / "whole");
  EXPECT_THROW(train_toy(folder / "cut", crash_at(0, 4)), ResumeCrash);
  EXPECT_EQ(train_toy(folder / "cut").ending, Ending::finished);
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

TEST(Resume, RefusesACheckpointOfAnotherRecipe) {
  const TemporaryDirectory folder;
  train_toy(folder / "one");
  train_toy(folder / "two", {}, {"optimizer.lr=0.02"});
  std::filesystem::remove_all(folder / "one" / "checkpoints");
  std::filesystem::copy(folder / "two" / "checkpoints", folder / "one" / "checkpoints",
                        std::filesystem::copy_options::recursive);
  EXPECT_THROW(train_toy(folder / "one"), std::runtime_error);
}

}  // namespace
}  // namespace cachet::train
