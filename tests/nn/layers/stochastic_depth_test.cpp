#include "cachet/nn/layers/stochastic_depth.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

namespace cachet {
namespace {

TEST(StochasticDepth, DropsWholeSamplesAndKeepsTheMean) {
  const at::Tensor y = nn::stochastic_depth(at::ones({4000, 3, 2}), 0.25, true);
  const at::Tensor kept = y.flatten(1).select(1, 0) > 0;
  EXPECT_TRUE(at::allclose(y, (kept.to(at::kFloat) / 0.75).view({-1, 1, 1}).expand_as(y)));
  // Four standard deviations of a mean of 4,000 draws.
  EXPECT_NEAR(y.mean().item<double>(), 1.0, 4 * std::sqrt(0.25 / 0.75 / 4000));
  EXPECT_TRUE(at::equal(nn::stochastic_depth(y, 0.25, false), y));
}

}  // namespace
}  // namespace cachet
