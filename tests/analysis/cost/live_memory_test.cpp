#include "cachet/analysis/cost/live_memory.h"

#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include <optional>

namespace cachet::analysis {
namespace {

at::Tensor bytes(int64_t count) { return at::empty({count}, at::kByte); }

TEST(LiveMemory, CountsWhatIsAliveAndTheMostThatWas) {
  std::optional<at::Tensor> earlier = bytes(1 << 20);
  LiveMemory memory;
  const at::Tensor kept = bytes(1000);
  {
    const at::Tensor passing = bytes(5000);
    EXPECT_EQ(memory.live_bytes(), 6000);
  }
  EXPECT_EQ(memory.live_bytes(), 1000);
  EXPECT_EQ(memory.peak_bytes(), 6000);
  earlier.reset();  // was there before: no negative bytes
  EXPECT_EQ(memory.live_bytes(), 1000);
  memory.restart_peak();
  EXPECT_EQ(memory.peak_bytes(), 1000);
}

TEST(LiveMemory, CountsNothingOutsideItsLife) {
  std::optional<LiveMemory> memory(std::in_place);
  const at::Tensor inside = bytes(100);
  EXPECT_EQ(memory->live_bytes(), 100);
  memory.reset();
  const at::Tensor outside = bytes(100);
  LiveMemory next;
  EXPECT_EQ(next.live_bytes(), 0);
}

}  // namespace
}  // namespace cachet::analysis
