#include "cachet/nn/layers/feed_forward.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/support/gradient_check.h"

namespace cachet {
namespace {

TEST(FeedForward, GradientEqualsFiniteDifferences) {
  nn::FeedForward mlp(nn::FeedForwardOptions{3, 5});
  mlp.to(at::kDouble);
  test::expect_gradients([&](const auto& in) { return mlp.forward(in[0], {}).pow(2).sum(); }, {at::randn({2, 1, 3})});
}

}  // namespace
}  // namespace cachet
