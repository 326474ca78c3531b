#include "cachet/train/step/time_left.h"

#include <gtest/gtest.h>

#include "cachet/train/machine/clock.h"
#include "cachet/train/runs/event_curves.h"
#include "tests/support/temporary_directory.h"
#include "tests/train/toy_run.h"

namespace cachet::train {
namespace {

using test::TemporaryDirectory;

TrainOptions options_of(Duration evaluate, Duration save) {
  TrainOptions options;
  options.evaluate_every = evaluate;
  options.checkpoint_every = save;
  return options;
}

constexpr Duration steps(int64_t count) { return {count, Duration::Unit::steps}; }

/// Counts step by step, as the trainer goes.
WorkLeft counted(const TrainOptions& options, int64_t total, int64_t step) {
  WorkLeft left{total - step, 0, 0};
  for (int64_t at = std::max<int64_t>(1, step); at <= total; ++at) {
    const bool evaluates = at % options.evaluate_every.steps(10) == 0 || at == total;
    left.evaluations += evaluates ? 1 : 0;
    left.checkpoints += evaluates || at % options.checkpoint_every.steps(10) == 0 ? 1 : 0;
  }
  return left;
}

TEST(TimeLeft, WorkIsThatOfEachStepToCome) {
  for (const int64_t evaluate : {1, 3, 4, 7, 30, 100})
    for (const int64_t save : {1, 2, 6, 7, 31})
      for (const int64_t total : {1, 12, 30})
        for (int64_t step = 0; step <= total; ++step) {
          const TrainOptions options = options_of(steps(evaluate), steps(save));
          const WorkLeft left = work_left(options, 10, total, step), right = counted(options, total, step);
          EXPECT_EQ(left.steps, right.steps);
          EXPECT_EQ(left.evaluations, right.evaluations) << evaluate << ' ' << save << ' ' << total << ' ' << step;
          EXPECT_EQ(left.checkpoints, right.checkpoints) << evaluate << ' ' << save << ' ' << total << ' ' << step;
        }
}

TEST(TimeLeft, SpansThatNeverCloseAreOneEvaluationAtTheEnd) {
  const Duration never{int64_t{1} << 62, Duration::Unit::epochs};
  const WorkLeft left = work_left(options_of(never, never), 1000, 50, 0);
  EXPECT_EQ(left.evaluations, 1);
  EXPECT_EQ(left.checkpoints, 1);
}

/// A run whose steps take 2 seconds, and whose evaluations take 5.
class PlayedRun : public ::testing::Test {
 protected:
  std::vector<Event> trained(const std::vector<std::string>& more = {}) {
    test::ToyHooks hooks;
    hooks.before_forward = [this](int64_t, int64_t) { clock_.advance(2); };
    hooks.after_evaluation = [this] { clock_.advance(5); };
    std::vector<std::string> settings{"train.accumulate=1", "train.log_every=2 steps"};
    settings.insert(settings.end(), more.begin(), more.end());
    test::train_toy(folder_ / "run", hooks, settings);
    return read_events(folder_ / "run/metrics.jsonl");
  }

  TemporaryDirectory folder_;
  PlayedClock clock_;
};

constexpr double kSteps = 21, kEvaluations = 3, kSeconds = 2 * kSteps + 5 * kEvaluations;

TEST_F(PlayedRun, SecondsLeftAreThoseThatTheRestTakes) {
  bool evaluated = false;
  int lines = 0;
  for (const Event& event : trained()) {
    if (event.kind == Event::Kind::evaluation) {
      evaluated = true;
      continue;
    }
    ++lines;
    const double left = event.machine.find("seconds_left").value(), now = event.machine.find("seconds").value();
    // Before the first evaluation it counts as forward passes over the 58 images, a third of 8 images in 2 seconds.
    const double guess = evaluated ? 0 : kEvaluations * (58.0 * 2 / 8 / 3 - 5);
    EXPECT_NEAR(now + left, kSeconds + guess, 1e-9) << event.step;
  }
  EXPECT_GE(lines, 10);
}

TEST_F(PlayedRun, MaxHoursEndWhatIsLeft) {
  for (const Event& event : trained({"train.max_hours=0.01"})) {  // 36 seconds
    if (event.kind != Event::Kind::step) continue;
    EXPECT_LE(event.machine.find("seconds").value() + event.machine.find("seconds_left").value(), 36 + 2 + 5);
  }
}

TEST_F(PlayedRun, TrainingTimeIsThatOfStepsAlone) {
  const std::vector<Event> events = trained();
  EXPECT_EQ(training_seconds(events), 2 * kSteps);
  EXPECT_EQ(events.back().machine.find("seconds"), kSeconds);
  // Images a second × training time is the number of images.
  for (const double rate : step_curve(events, Event::Kind::step, "samples_per_second").values)
    EXPECT_DOUBLE_EQ(rate * training_seconds(events), kSteps * 8);
}

TEST_F(PlayedRun, TrainingTimeOfAResumedRunIsWhole) {
  trained({"train.epochs=1", "train.checkpoint_every=1 steps", "train.log_every=5 steps"});
  EXPECT_EQ(training_seconds(trained({"train.epochs=3", "train.log_every=5 steps"})), 2 * kSteps);
}

/// Step lines of version 0.1.0 have no time of their own.
TEST_F(PlayedRun, TrainingTimeOfAnEarlierRunIsWithoutEvaluations) {
  std::vector<Event> events = trained();
  for (Event& event : events) {
    Metrics without;
    for (const auto& [name, value] : event.machine)
      if (name != "step_seconds") without.set(name, value);
    event.machine = without;
  }
  EXPECT_NEAR(training_seconds(events), 2 * kSteps, 1e-9);
}

}  // namespace
}  // namespace cachet::train
