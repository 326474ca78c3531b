#include "cachet/nn/layers/depthwise_feed_forward.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/support/gradient_check.h"
#include "tests/support/refused.h"

namespace cachet {
namespace {

TEST(DepthwiseFeedForward, GradientEqualsFiniteDifferencesAndNeighboursMix) {
  for (const auto before : {nn::BeforeDepthwise::nothing, nn::BeforeDepthwise::relu}) {
    nn::DepthwiseFeedForward mlp({2, 4}, before);
    mlp.to(at::kDouble);
    const nn::TokenLayout layout{nn::Grid{2, 3}, 0, {}};
    test::expect_gradients([&](const auto& in) { return mlp.forward(in[0], layout).pow(2).sum(); },
                           {at::randn({1, 6, 2})});
    at::Tensor x = at::randn({1, 6, 2}, at::kDouble);
    const at::Tensor y = mlp.forward(x, layout);
    x.select(1, 1).add_(1);
    EXPECT_FALSE(at::allclose(mlp.forward(x, layout).select(1, 0), y.select(1, 0))) << "the token to the left";
    test::expect_refused([&] { mlp.forward(x, {}); }, "needs tokens on a grid");
  }
}

}  // namespace
}  // namespace cachet
