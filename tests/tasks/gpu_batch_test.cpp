#include "cachet/tasks/gpu_batch.h"

#include <gtest/gtest.h>

namespace cachet::tasks {
namespace {

int64_t bytes(int64_t samples) { return 100 + 10 * samples; }

TEST(GpuBatch, FitsIntoTheMemoryWithATenthToSpare) {
  // The estimate for 64 samples, 740 bytes, is above the memory: it is not scaled.
  EXPECT_EQ(samples_that_fit(64, 600, bytes), 44);  // 540 bytes of 540
  // A step of 64 samples did not fit into 1,480 bytes, so that it needs at least twice the estimate.
  EXPECT_EQ(samples_that_fit(64, 1480, bytes), 56);  // 2 x 660 of 1,332
  EXPECT_EQ(samples_that_fit(64, 0, bytes), 56) << "without a size, the estimate of the step is the memory";
  EXPECT_EQ(samples_that_fit(64, 100, bytes), 0);
  EXPECT_EQ(samples_that_fit(1, 1000, bytes), 0) << "fewer samples than one";
}

}  // namespace
}  // namespace cachet::tasks
