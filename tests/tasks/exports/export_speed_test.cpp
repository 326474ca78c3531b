#include "cachet/tasks/exports/export_speed.h"

#include <ATen/Context.h>
#include <ATen/ops/rand.h>
#include <gtest/gtest.h>

#include "tests/support/temporary_directory.h"
#include "tests/tasks/tiny_images.h"

namespace cachet::tasks {
namespace {

TEST(ExportSpeed, IsToldInOneSentence) {
  const ExportSpeed speed{8, 12, 16.04, 12.1, {1.288, 1.32, 1.351}};
  EXPECT_EQ(to_text(speed),
            "1.32 times as fast as the model (quartiles 1.29 to 1.35): 12.1 ms instead of 16 ms for a batch of 8");
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
