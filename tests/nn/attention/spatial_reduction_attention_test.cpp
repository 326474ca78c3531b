// Attentions whose keys are fewer than their context's tokens, or whose result has other channels than its query.
#include "cachet/nn/attention/spatial_reduction_attention.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "cachet/nn/attention/cached_attention.h"
#include "cachet/nn/attention/token_performer.h"
#include "cachet/nn/attention/token_transformer.h"
#include "tests/support/autocast.h"
#include "tests/support/gradient_check.h"
#include "tests/support/refused.h"

namespace cachet {
namespace {

using nn::Grid;
using test::expect_refused;

nn::SpatialReductionAttention reducing(nn::ReductionForm form, int64_t ratio) {
  nn::SpatialReductionOptions reduction;
  reduction.form = form;
  reduction.ratio = ratio;
  return nn::SpatialReductionAttention({4, 2, {}, nn::Projection::separate}, reduction);
}

TEST(SpatialReductionAttention, GradientEqualsFiniteDifferencesBesideAClassToken) {
  for (const auto form : {nn::ReductionForm::convolution, nn::ReductionForm::pooling}) {
    auto attention = reducing(form, 2);
    attention.to(at::kDouble);
    const auto layout = nn::AttentionArgs::self({Grid{4, 2}, 1, {}});
    test::expect_gradients([&](const auto& in) { return attention.forward(in[0], in[0], layout).pow(2).sum(); },
                           {at::randn({1, 9, 4})});
  }
}

TEST(SpatialReductionAttention, ARatioOfOneIsPlainAttention) {
  auto attention = reducing(nn::ReductionForm::convolution, 1);
  EXPECT_FALSE(attention.named_parameters().contains("sr.weight"));
  nn::MultiHeadAttention plain({4, 2, {}, nn::Projection::separate});
  const at::NoGradGuard no_grad;
  for (const auto& item : plain.named_parameters()) item.value().copy_(attention.named_parameters()[item.key()]);
  const at::Tensor x = at::randn({2, 5, 4});
  EXPECT_TRUE(at::equal(attention.forward(x, x, {}), plain.forward(x, x, {})));
}

TEST(SpatialReductionAttention, NamesWhatItRefuses) {
  auto attention = reducing(nn::ReductionForm::convolution, 2);
  const at::Tensor x = at::randn({2, 6, 4});
  expect_refused([&] { attention.forward(x, x, {}); }, "the context must lie on a grid");
  const auto on = [](Grid grid) { return nn::AttentionArgs::self({grid, 0, {}}); };
  expect_refused([&] { attention.forward(x, x, on({6, 1})); }, "a grid of 6 x 1 is too small to be reduced by 2");
  auto padded = on({3, 2});
  padded.context.padding = at::zeros({2, 6}, at::kBool);
  expect_refused([&] { attention.forward(x, x, padded); }, "must not have padding");
  auto causal = on({3, 2});
  causal.causal = true;
  expect_refused([&] { attention.forward(x, x, causal); },
                 "cannot use a causal mask, a session state or an attention bias");
  expect_refused([] { nn::SpatialReductionAttention({4, 2}, {}); }, "use Projection::separate");
}

// Each of T2T-ViT's attentions over tokens of 3 channels, made 4.
std::vector<std::shared_ptr<nn::Attention>> token_attentions() {
  nn::TokenPerformerOptions performer;
  performer.dim = 3;
  performer.token_dim = 4;
  performer.dropout = 0;
  return {std::make_shared<nn::TokenPerformer>(performer),
          std::make_shared<nn::TokenTransformer>(nn::TokenTransformerOptions{3, 4, {}})};
}

// Tokens and projections are whole numbers, which bfloat16 holds exactly: what differs is the features and their sums.
TEST(TokenAttention, FeaturesOfThePerformerAreFloat32UnderAutocast) {
  nn::TokenPerformer attention({8, 8, 1, 0});
  const at::NoGradGuard no_grad;
  for (const at::Tensor& parameter : attention.parameters()) parameter.zero_();
  const at::Tensor identity = at::eye(8);
  attention.named_parameters()["kqv.weight"].copy_(at::cat({identity, identity, identity}));
  attention.named_parameters()["proj.weight"].copy_(identity);
  const at::Tensor x = at::randint(-2, 3, {4, 12, 8}).to(at::kFloat);
  const at::Tensor exact = attention.forward(x, x, {}) - x;
  const test::BFloat16Autocast autocast;
  const at::Tensor narrow = attention.forward(x, x, {}).to(at::kFloat) - x;
  // Values to 2, and five roundings of 2^-9 after the features: their sums, the divisor, the projection.
  EXPECT_LT((narrow - exact).abs().max().item<double>(), 0.02);
}

TEST(TokenAttention, GradientEqualsFiniteDifferencesToItselfAndToAContext) {
  for (const auto& attention : token_attentions()) {
    attention->to(at::kDouble);
    test::expect_gradients([&](const auto& in) { return attention->forward(in[0], in[0], {}).pow(2).sum(); },
                           {at::randn({2, 5, 3})});
    test::expect_gradients([&](const auto& in) { return attention->forward(in[0], in[1], {}).pow(2).sum(); },
                           {at::randn({2, 5, 3}), at::randn({1, 2, 3})});
  }
}

TEST(TokenAttention, PaddedTokensOfTheContextNeverMatter) {
  const at::Tensor padding = at::tensor({0, 0, 1, 0, 0, 0, 1, 1}).view({2, 4}).to(at::kBool);
  for (const auto& attention : token_attentions()) {
    const at::Tensor query = at::randn({2, 3, 3}), context = at::randn({2, 4, 3});
    nn::AttentionArgs args;
    args.context.padding = padding;
    const at::Tensor noisy = context + padding.unsqueeze(2) * 3;
    EXPECT_TRUE(at::allclose(attention->forward(query, context, args), attention->forward(query, noisy, args)));
  }
}

TEST(TokenAttention, ServesAsMemoryAttentionOverACache) {
  // Cached layers keep their width, so here the tokens do too.
  nn::CachedAttentionOptions options{8, 1, 6, {}, nn::GatedRecurrentCacheOptions{}};
  const auto layer = nn::make_self_attention(options, [](int64_t dim, nn::Branch) -> std::shared_ptr<nn::Attention> {
    nn::TokenPerformerOptions performer;
    performer.dim = performer.token_dim = dim;
    return std::make_shared<nn::TokenPerformer>(performer);
  });
  const at::Tensor x = at::randn({2, 6, 8});
  const at::Tensor y = layer->forward(x, x, {});
  EXPECT_EQ(y.sizes(), x.sizes());
  y.sum().backward();
  for (const auto& item : layer->named_parameters()) EXPECT_TRUE(item.value().grad().defined()) << item.key();
}

}  // namespace
}  // namespace cachet
