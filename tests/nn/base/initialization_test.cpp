#include "cachet/nn/base/initialization.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

namespace cachet {
namespace {

TEST(TruncatedNormal, HasItsSpreadAndItsCuts) {
  at::Tensor narrow = at::empty({20000}), wide = at::empty({20000});
  nn::truncated_normal_(narrow, 0.02);
  nn::truncated_normal_(wide, 5.0);
  EXPECT_NEAR(narrow.std().item<double>(), 0.02, 0.02 * 4 / std::sqrt(2.0 * 20000));
  EXPECT_LE(wide.abs().max().item<double>(), 2.0);
  EXPECT_GT(wide.std().item<double>(), 1.0) << "nearly uniform between the cuts";
}

TEST(TruncatedNormal, ADrawAtTheEdgeIsADrawLikeAnother) {
  // A float32 uniform draw has 24 bits: one in 16.8 million is the closed edge itself, whose normal value is infinite.
  constexpr int64_t kDraws = 4096;
  constexpr double kSpread = 0.02;
  for (uint64_t seed = 0;; ++seed) {
    ASSERT_LT(seed, 200'000u) << "no draw hit the edge";
    at::manual_seed(seed);
    const at::Tensor uniform = at::empty({kDraws}).uniform_(-1, 1);
    const at::Tensor edge = uniform.eq(-1);
    if (!edge.any().item<bool>()) continue;
    at::manual_seed(seed);
    at::Tensor drawn = at::empty({kDraws});
    nn::truncated_normal_(drawn, kSpread);
    // 5.4 is the largest deviation that 24 bits can distinguish from none.
    EXPECT_LT(drawn.abs().max().item<double>(), 5.5 * kSpread);
    EXPECT_LT(drawn.masked_select(edge).max().item<double>(), -5 * kSpread);
    const at::Tensor expected = uniform.erfinv().mul_(kSpread * std::sqrt(2.0));
    EXPECT_TRUE(at::equal(drawn.masked_select(~edge), expected.masked_select(~edge))) << "all others stay as they were";
    return;
  }
}

}  // namespace
}  // namespace cachet
