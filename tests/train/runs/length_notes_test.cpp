#include "cachet/train/runs/length_notes.h"

#include <gtest/gtest.h>

namespace cachet::train {
namespace {

using Notes = std::vector<std::string>;

Options options(Duration warmup, std::optional<Duration> limit) {
  Options options;
  options.train.epochs = 3;
  options.train.limit = limit;
  options.schedule.warmup = warmup;
  return options;
}

TEST(LengthNotes, SayWhatDoesNotFit) {
  const auto steps = [](int64_t count) { return Duration{count, Duration::Unit::steps}; };
  const std::string end =
      ", so the learning rate does not reach optimizer.lr; set a shorter schedule.warmup, or a longer run";
  EXPECT_EQ(length_notes(options(steps(120), steps(120)), 120, 40), Notes{});
  EXPECT_EQ(length_notes(options(steps(121), {}), 120, 40),
            Notes{"schedule.warmup is 121 steps, but the run has only 120 steps" + end});
  EXPECT_EQ(length_notes(options({4, Duration::Unit::epochs}, {}), 120, 40),
            Notes{"schedule.warmup is 4 epochs, but the run has only 120 steps" + end});
  EXPECT_EQ(
      length_notes(options(steps(0), steps(150)), 120, 40),
      Notes{
          "train.limit is 150 steps, but train.epochs = 3 ends the run earlier, after 120 steps; raise train.epochs"});
  EXPECT_EQ(length_notes(options(steps(0), steps(90)), 90, 40), Notes{});
}

}  // namespace
}  // namespace cachet::train
