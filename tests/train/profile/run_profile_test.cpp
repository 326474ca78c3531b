#include "cachet/train/profile/run_profile.h"

#include <gtest/gtest.h>

#include <fstream>

#include "cachet/io/files/read_file.h"
#include "tests/support/temporary_directory.h"
#include "tests/train/toy_run.h"

namespace cachet::train {
namespace {

namespace fs = std::filesystem;
using test::TemporaryDirectory;
using test::train_toy;

/// The steps before the first profiled one.
int64_t skipped(int64_t steps, int64_t left) {
  RunProfile profile(steps, left);
  for (int64_t i = 0; i < left; ++i)
    if (profile.begins()) return i;
  return -1;
}

TEST(RunProfile, BeginsAfterAWarmUpAndEndsWithinTheRun) {
  EXPECT_EQ(skipped(5, 1000), 20);
  EXPECT_EQ(skipped(5, 25), 20);
  EXPECT_EQ(skipped(5, 24), 19);
  EXPECT_EQ(skipped(5, 6), 1);
  EXPECT_EQ(skipped(5, 3), 1);
  EXPECT_EQ(skipped(5, 1), 0);
  EXPECT_EQ(skipped(0, 1000), -1);
}

std::string log_of(const fs::path& run) { return io::read_text_file(run / "log.txt", 1 << 24); }
std::string page_of(const fs::path& run) { return io::read_text_file(run / "report.html", 1 << 24); }

TEST(RunProfile, IsInTheFolderAndOnThePageOfARun) {
  const TemporaryDirectory folder;
  train_toy(folder / "run", {},
            {"train.profile=3", "train.evaluate_every=12 steps", "train.checkpoint_every=12 steps"});
  const std::optional<StepProfile> profile = read_profile(folder / "run/profile.json");
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->first_step, 10);
  EXPECT_EQ(profile->steps, 3);
  EXPECT_EQ(profile->device, "cpu");
  EXPECT_GT(profile->busy_fraction(), 0);
  EXPECT_LE(profile->busy_fraction(), 1);
  double families = 0;
  for (const WorkTime& time : profile->families) families += time.seconds;
  EXPECT_NEAR(families, profile->busy_seconds, 1e-9 * profile->busy_seconds);
  EXPECT_EQ(profile->families.front().calls > 0, true);
  EXPECT_GT(profile->memory.weights, 0);
  EXPECT_EQ(profile->memory.gradients, profile->memory.weights);
  EXPECT_GE(profile->memory.optimizer, 3 * profile->memory.weights) << "two moments and the average";
  EXPECT_GT(profile->memory.activations, 0);
  EXPECT_NE(page_of(folder / "run").find("Profile of steps 10 to 12"), std::string::npos);
  EXPECT_NE(log_of(folder / "run").find("profile: "), std::string::npos);
}

TEST(RunProfile, ChangesNoResult) {
  const TemporaryDirectory folder;
  train_toy(folder / "plain");
  train_toy(folder / "profiled", {}, {"train.profile=4"});
  test::expect_same_runs(folder / "plain", folder / "profiled");
  EXPECT_FALSE(fs::exists(folder / "plain/profile.json"));
  EXPECT_TRUE(fs::exists(folder / "profiled/profile.json"));
}

TEST(RunProfile, EndsBeforeAnEvaluation) {
  const TemporaryDirectory folder;
  train_toy(folder / "run", {}, {"train.profile=9"});  // 12 steps; an epoch has 4
  const std::optional<StepProfile> profile = read_profile(folder / "run/profile.json");
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->first_step, 4);
  EXPECT_EQ(profile->steps, 1);
  EXPECT_NE(page_of(folder / "run").find("Profile of step 4"), std::string::npos);
}

TEST(RunProfile, OfAResumedRunReplacesTheProfile) {
  const TemporaryDirectory folder;
  train_toy(folder / "run", {}, {"train.epochs=1"});
  EXPECT_FALSE(fs::exists(folder / "run/profile.json"));
  train_toy(folder / "run", {}, {"train.epochs=2", "train.profile=2"});
  EXPECT_EQ(read_profile(folder / "run/profile.json")->first_step, 7);
  train_toy(folder / "run", {}, {"train.epochs=3", "train.profile=1"});
  EXPECT_EQ(read_profile(folder / "run/profile.json")->first_step, 12);
}

TEST(RunProfile, ThatCannotBeWrittenEndsNoRun) {
  const TemporaryDirectory folder;
  train_toy(folder / "run", {}, {"train.epochs=1"});
  fs::create_directory(folder / "run/profile.json");
  EXPECT_EQ(train_toy(folder / "run", {}, {"train.epochs=2", "train.profile=1"}).ending, StopReason::finished);
  EXPECT_NE(log_of(folder / "run").find("the profile could not be written: "), std::string::npos);
}

}  // namespace
}  // namespace cachet::train
