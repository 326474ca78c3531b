#include "cachet/tasks/exports/export_speed.h"

#include <ATen/Context.h>
#include <ATen/ops/rand.h>
#include <gtest/gtest.h>

#include <functional>
#include <utility>

#include "tests/support/temporary_directory.h"
#include "tests/tasks/tiny_images.h"

namespace cachet::tasks {
namespace {

TEST(ExportSpeed, IsToldInOneSentence) {
  const ExportSpeed speed{8, 12, 16.04, 12.1, {1.288, 1.32, 1.351}};
  EXPECT_EQ(to_text(speed),
            "1.32 times as fast as the model (quartiles 1.29 to 1.35): 12.1 ms instead of 16 ms for a batch of 8");
}

TEST(ExportSpeed, AnExportThatTakesLongerIsSlower) {
  const ExportSpeed speed{1, 12, 9.24, 12.0, {0.74, 0.77, 0.82}};
  EXPECT_EQ(
      to_text(speed),
      "slower than the model: it takes 1.30 times as long (quartiles 1.22 to 1.35): 12 ms instead of 9.24 ms for a "
      "batch of 1");
}

TEST(ExportSpeed, IsNotToldOfABusyMachine) {
  EXPECT_EQ(to_text(ExportSpeed{8, 160, 16.04, 12.1, {0.06, 3.17, 19.9}}),
            "the machine was too busy to compare the speed of the export with the speed of the model (quartiles 0.06 "
            "to 19.90 times "
            "as fast)");
}

/// Timings that are played: the model takes `model(i)` seconds for its i-th batch and the export a tenth of a second.
class PlayedTimes {
 public:
  explicit PlayedTimes(std::function<double(int64_t)> model) : model_(std::move(model)) {}

  SpeedClocks clocks() {
    return {[this] { return pass(model_(count_++)); }, [this] { return pass(kExport); }, [this] { return time_; }};
  }
  double time() const { return time_; }

  static constexpr double kExport = 0.01;

 private:
  double pass(double seconds) {
    time_ += seconds;
    return seconds;
  }

  std::function<double(int64_t)> model_;
  int64_t count_ = 0;
  double time_ = 100;
};

TEST(ExportSpeed, IsMeasuredOnceOnAQuietMachine) {
  PlayedTimes times([](int64_t i) { return i % 2 == 0 ? 0.02 : 0.021; });
  const ExportSpeed speed = timed_in_turns(times.clocks(), 8);
  EXPECT_EQ(speed.pairs, 40);
  EXPECT_TRUE(speed.is_comparable());
  EXPECT_NEAR(speed.times_as_fast.median, 2.05, 1e-9);
  EXPECT_EQ(speed.batch, 8);
}

TEST(ExportSpeed, IsMeasuredForLongerWhileTheQuartilesLieApart) {
  // Busy for the first round alone.
  PlayedTimes times([](int64_t i) { return i < 30 && i % 2 == 0 ? 0.001 : 0.02; });
  const ExportSpeed speed = timed_in_turns(times.clocks(), 8);
  EXPECT_EQ(speed.pairs, 80);
  EXPECT_TRUE(speed.is_comparable());
  EXPECT_NEAR(speed.times_as_fast.median, 2, 1e-9);
}

TEST(ExportSpeed, IsGivenUpAfterFourRounds) {
  PlayedTimes fast([](int64_t i) { return i % 2 == 0 ? 0.001 : 0.02; });
  const ExportSpeed of_pairs = timed_in_turns(fast.clocks(), 8);
  EXPECT_EQ(of_pairs.pairs, 160);
  EXPECT_FALSE(of_pairs.is_comparable());
  PlayedTimes slow([](int64_t i) { return i % 2 == 0 ? 0.1 : 0.9; });
  EXPECT_FALSE(timed_in_turns(slow.clocks(), 1).is_comparable());
  EXPECT_LT(slow.time() - 100, 6 + 1) << "four rounds of a second and a half, and the last pair";
}

TEST(ExportSpeed, OfASlowModelIsOnePair) {
  PlayedTimes times([](int64_t) { return 7.0; });
  EXPECT_EQ(timed_in_turns(times.clocks(), 1).pairs, 1);
}

TEST(ExportSpeed, IsMeasuredOfTwoModelsAndLeavesTheRandomStateAlone) {
  const test::TemporaryDirectory folder;
  test::write_tiny_images(folder / "images");
  test::train_tiny(folder / "images", folder / "run", {"train.limit=1 steps"});
  const SavedRun saved = open_saved_run(folder / "run");
  at::manual_seed(3);
  const at::Tensor undisturbed = at::rand({4});
  at::manual_seed(3);
  const ExportSpeed speed = compare_speed(saved, saved);
  EXPECT_TRUE(at::rand({4}).equal(undisturbed));
  EXPECT_TRUE(speed.batch == 1 || speed.batch == 8) << speed.batch;
  EXPECT_GE(speed.pairs, 1);
  EXPECT_GT(speed.model_milliseconds, 0);
  EXPECT_GT(speed.export_milliseconds, 0);
  EXPECT_GT(speed.times_as_fast.lower, 0);
  EXPECT_LE(speed.times_as_fast.lower, speed.times_as_fast.median);
  EXPECT_LE(speed.times_as_fast.median, speed.times_as_fast.upper);
}

}  // namespace
}  // namespace cachet::tasks
