#include "cachet/nn/attention/multi_head_attention.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/support/gradient_check.h"

namespace cachet {
namespace {

using testing::expect_refused;

TEST(MultiHeadAttention, PaddingOnEitherSideNeverMatters) {
  nn::MultiHeadAttention attention({8, 2});
  const at::Tensor padding = at::tensor({0, 0, 0, 0, 0, 1, 0, 1}).view({2, 4}).to(at::kBool);
  const auto layout = nn::AttentionLayout::self({std::nullopt, 0, padding});
  const at::Tensor x = at::randn({2, 4, 8}), noisy = at::where(padding.unsqueeze(2), at::randn({2, 4, 8}), x);
  const at::Tensor y = attention.forward(x, x, layout);
  EXPECT_TRUE(at::equal(y, attention.forward(noisy, noisy, layout)));
  EXPECT_TRUE(at::equal(y.masked_select(padding.unsqueeze(2)), at::zeros({2 * 8})));
}

TEST(MultiHeadAttention, DecodingTokenByTokenEqualsTheCausalWhole) {
  nn::MultiHeadAttention attention({8, 2});
  attention.to(at::kDouble);
  const at::Tensor x = at::randn({3, 5, 8}, at::kDouble);
  nn::AttentionLayout whole;
  whole.causal = true;
  const at::Tensor expected = attention.forward(x, x, whole);
  const auto state = attention.make_state(3, nn::StreamUse::decoding);
  for (const auto& [from, to] : {std::pair{0, 2}, {2, 3}, {3, 5}}) {
    const at::Tensor part = x.slice(1, from, to);
    nn::AttentionLayout layout = whole;
    layout.state = state.get();
    EXPECT_TRUE(at::allclose(attention.forward(part, part, layout), expected.slice(1, from, to), 1e-10, 1e-12));
  }
}

TEST(MultiHeadAttention, ReorderedLanesDecodeAsIfTheyHadBeenThereBefore) {
  nn::MultiHeadAttention attention({8, 2});
  const at::Tensor x = at::randn({3, 4, 8}), rows = at::tensor({int64_t{2}, int64_t{0}, int64_t{0}});
  const auto decode = [&](const at::Tensor& first, const at::Tensor& second, bool reorder) {
    const auto state = attention.make_state(3, nn::StreamUse::decoding);
    nn::AttentionLayout layout;
    layout.causal = true;
    layout.state = state.get();
    attention.forward(first, first, layout);
    if (reorder) state->reorder(rows);
    return attention.forward(second, second, layout);
  };
  const at::Tensor first = x.slice(1, 0, 3), second = x.slice(1, 3, 4);
  EXPECT_TRUE(
      at::allclose(decode(first, second, true), decode(first.index_select(0, rows), second, false), 1e-5, 1e-6));
}

TEST(MultiHeadAttention, OneContextServesAllSamples) {
  nn::MultiHeadAttention attention({8, 2, {}, nn::Projection::separate});
  const at::Tensor query = at::randn({3, 4, 8}), context = at::randn({1, 5, 8});
  EXPECT_TRUE(at::allclose(attention.forward(query, context, {}),
                           attention.forward(query, context.expand({3, 5, 8}).contiguous(), {}), 1e-6, 1e-6));
}

TEST(MultiHeadAttention, GradientEqualsFiniteDifferences) {
  nn::MultiHeadAttention attention({4, 2});
  attention.to(at::kDouble);
  std::vector<at::Tensor> inputs{at::randn({1, 3, 4})};
  testing::expect_gradients([&](const auto& in) { return attention.forward(in[0], in[0], {}).pow(2).sum(); }, inputs);
}

TEST(MultiHeadAttention, NamesWhatItRefuses) {
  expect_refused([] { nn::MultiHeadAttention({10, 3}); }, "3 heads do not divide 10 channels");
  nn::MultiHeadAttention fused({8, 2}), separate({8, 2, {}, nn::Projection::separate});
  const at::Tensor x = at::randn({2, 4, 8});
  expect_refused([&] { fused.forward(x, at::randn({2, 4, 8}), {}); }, "fused projections serve self-attention only");
  expect_refused([&] { fused.forward(x[0], x[0], {}); }, "query must be (B, L, D)");
  expect_refused([&] { separate.forward(x, at::randn({3, 4, 8}), {}); }, "context has batch 3, query 2");
  nn::AttentionLayout layout;
  layout.query.grid = nn::Grid{2, 3};
  expect_refused([&] { fused.forward(x, x, layout); }, "has 4 tokens, but 0 class tokens and a grid of 2 x 3 make 6");
}

}  // namespace
}  // namespace cachet
