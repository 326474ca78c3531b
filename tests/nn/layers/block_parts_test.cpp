#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "cachet/nn/base/initialization.h"
#include "cachet/nn/layers/depthwise_feed_forward.h"
#include "cachet/nn/layers/stochastic_depth.h"
#include "cachet/nn/transformer_block.h"
#include "tests/support/gradient_check.h"
#include "tests/support/refused.h"

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
    // 5.4 is the largest deviation that 24 bits can tell from none.
    EXPECT_LT(drawn.abs().max().item<double>(), 5.5 * kSpread);
    EXPECT_LT(drawn.masked_select(edge).max().item<double>(), -5 * kSpread);
    const at::Tensor expected = uniform.erfinv().mul_(kSpread * std::sqrt(2.0));
    EXPECT_TRUE(at::equal(drawn.masked_select(~edge), expected.masked_select(~edge))) << "all others stay as they were";
    return;
  }
}

TEST(FeedForward, GradientEqualsFiniteDifferences) {
  nn::FeedForward mlp(nn::FeedForwardOptions{3, 5});
  mlp.to(at::kDouble);
  test::expect_gradients([&](const auto& in) { return mlp.forward(in[0], {}).pow(2).sum(); }, {at::randn({2, 1, 3})});
}

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

TEST(TransformerBlock, TakesEveryCombinationOfPlugIns) {
  nn::TransformerBlockOptions options;
  options.dim = 8;
  options.num_heads = 2;
  options.tokens = 5;
  options.layout = {nn::Grid{2, 2}, 1, {}};
  const std::vector<nn::CacheOptions> caches{
      nn::NoCacheOptions{}, nn::GatedRecurrentCacheOptions{},
      nn::GatedRecurrentCacheOptions::of(nn::GatedRecurrentCacheVariant::official), nn::FifoCacheOptions{}};
  const std::vector<nn::NormOptions> norms{nn::LayerNormOptions{},
                                           nn::RMSNormOptions{},
                                           nn::BatchNormOptions{},
                                           nn::UnifiedNormOptions{},
                                           nn::MovingAverageBatchNormOptions{},
                                           nn::PowerNormOptions{},
                                           nn::NoNormOptions{}};
  for (const auto& cache : caches)
    for (const auto& norm : norms) {
      nn::TransformerBlock block(options, {{}, cache, norm});
      const at::Tensor x = at::randn({3, 5, 8}).requires_grad_();
      const at::Tensor y = block.forward(x, nn::AttentionArgs::self(options.layout));
      EXPECT_EQ(y.sizes(), x.sizes());
      y.sum().backward();
      EXPECT_TRUE(x.grad().isfinite().all().item<bool>()) << cache.index() << ' ' << norm.index();
      for (const auto& parameter : block.named_parameters()) {
        EXPECT_TRUE(parameter.value().grad().defined()) << parameter.key() << " is never trained";
      }
    }
}

}  // namespace
}  // namespace cachet
