#include "cachet/nn/attention/multi_head_attention.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/decoding_check.h"
#include "tests/support/gradient_check.h"
#include "tests/support/refused.h"

namespace cachet {
namespace {

using test::expect_refused;

TEST(MultiHeadAttention, PaddingOnEitherSideNeverMatters) {
  nn::MultiHeadAttention attention({8, 2});
  const at::Tensor padding = at::tensor({0, 0, 0, 0, 0, 1, 0, 1}).view({2, 4}).to(at::kBool);
  const auto layout = nn::AttentionArgs::self({std::nullopt, 0, padding});
  const at::Tensor x = at::randn({2, 4, 8}), noisy = at::where(padding.unsqueeze(2), at::randn({2, 4, 8}), x);
  const at::Tensor y = attention.forward(x, x, layout);
  EXPECT_TRUE(at::equal(y, attention.forward(noisy, noisy, layout)));
  EXPECT_TRUE(at::equal(y.masked_select(padding.unsqueeze(2)), at::zeros({2 * 8})));
}

TEST(MultiHeadAttention, HeadsMayBeNarrowerOrWiderThanTheirShareOfTheTokens) {
  for (const int64_t head_dim : {3, 10})
    for (const auto projection : {nn::Projection::fused, nn::Projection::separate}) {
      nn::AttentionOptions options;
      options.head_dim = head_dim;
      options.projection_bias = false;
      nn::MultiHeadAttention attention({8, 2, options, projection});
      const auto parameters = attention.named_parameters();
      EXPECT_EQ(parameters["proj.weight"].sizes(), at::IntArrayRef({8, 2 * head_dim}));
      EXPECT_FALSE(parameters.contains("proj.bias"));
      const at::Tensor x = at::randn({3, 5, 8});
      const at::Tensor y = attention.forward(x, x, {});
      // The published equations, head by head.
      const bool fused = projection == nn::Projection::fused;
      const int64_t inner = 2 * head_dim;
      const at::Tensor q_weight = fused ? parameters["qkv.weight"].narrow(0, 0, inner) : parameters["q.weight"];
      const at::Tensor q_bias = fused ? parameters["qkv.bias"].narrow(0, 0, inner) : parameters["q.bias"];
      const at::Tensor kv_weight = fused ? parameters["qkv.weight"].slice(0, inner) : parameters["kv.weight"];
      const at::Tensor kv_bias = fused ? parameters["qkv.bias"].slice(0, inner) : parameters["kv.bias"];
      const auto head = [&](const at::Tensor& weight, const at::Tensor& bias, int64_t first) {
        return at::linear(x, weight.narrow(0, first, head_dim), bias.narrow(0, first, head_dim));
      };
      std::vector<at::Tensor> heads;
      for (const int64_t first : {int64_t{0}, head_dim}) {
        const at::Tensor q = head(q_weight, q_bias, first), k = head(kv_weight, kv_bias, first);
        const at::Tensor scores = at::matmul(q, k.transpose(1, 2)) / std::sqrt(static_cast<double>(head_dim));
        heads.push_back(at::matmul(scores.softmax(2), head(kv_weight, kv_bias, inner + first)));
      }
      const at::Tensor expected = at::linear(at::cat(heads, 2), parameters["proj.weight"]);
      EXPECT_TRUE(at::allclose(y, expected, 1e-5, 1e-6)) << head_dim;
    }
}

TEST(MultiHeadAttention, DecodingTokenByTokenEqualsTheCausalWhole) {
  nn::MultiHeadAttention attention({8, 2});
  test::expect_decoding_equals_whole(attention, 3);
}

TEST(MultiHeadAttention, ReorderedLanesDecodeAsIfTheyHadBeenThereBefore) {
  nn::MultiHeadAttention attention({8, 2});
  const at::Tensor x = at::randn({3, 4, 8}), rows = at::tensor({int64_t{2}, int64_t{0}, int64_t{0}});
  const auto decode = [&](const at::Tensor& first, const at::Tensor& second, bool reorder) {
    const auto state = attention.make_state(3, nn::SessionUse::decoding);
    nn::AttentionArgs args;
    args.causal = true;
    args.state = state.get();
    attention.forward(first, first, args);
    if (reorder) state->reorder(rows);
    return attention.forward(second, second, args);
  };
  const at::Tensor first = x.slice(1, 0, 3), second = x.slice(1, 3, 4);
  EXPECT_TRUE(
      at::allclose(decode(first, second, true), decode(first.index_select(0, rows), second, false), 1e-5, 1e-6));
}

TEST(MultiHeadAttention, LanesThatLeaveAStreamChangeNoOtherStream) {
  nn::MultiHeadAttention attention({8, 2});
  const at::NoGradGuard no_grad;
  const at::Tensor x = at::randn({4, 5, 8}), rows = at::tensor({int64_t{0}, int64_t{3}, int64_t{2}});
  nn::AttentionArgs args;
  args.causal = true;
  const auto state = attention.make_state(4, nn::SessionUse::decoding);
  args.state = state.get();
  for (int64_t i = 0; i < 3; ++i) {
    const at::Tensor token = x.narrow(1, i, 1);
    attention.forward(token, token, args);
  }
  const auto forked = state->clone();
  const at::Tensor held = state->get("values"), before = held.clone();
  state->reorder(rows);
  state->reorder(at::tensor({int64_t{0}, int64_t{2}}));  // of its own memory now
  EXPECT_TRUE(at::equal(held, before));
  EXPECT_TRUE(at::equal(forked->get("values"), before));
  EXPECT_TRUE(at::equal(state->get("values"), before.index_select(0, at::tensor({int64_t{0}, int64_t{2}}))));
  const at::Tensor next = x.narrow(1, 3, 1), left = next.index_select(0, at::tensor({int64_t{0}, int64_t{2}}));
  const at::Tensor few = attention.forward(left, left, args);
  args.state = forked.get();
  const at::Tensor all = attention.forward(next, next, args);
  EXPECT_TRUE(at::allclose(few, all.index_select(0, at::tensor({int64_t{0}, int64_t{2}})), 1e-5, 1e-6));
}

TEST(MultiHeadAttention, PaddingMayComeLate) {
  nn::MultiHeadAttention attention({8, 2});
  const at::NoGradGuard no_grad;
  const at::Tensor x = at::randn({2, 5, 8});
  at::Tensor padding = at::zeros({2, 5}, at::kBool);
  padding[1][3] = true;
  const auto decode = [&](const std::vector<int64_t>& with_padding) {
    const auto state = attention.make_state(2, nn::SessionUse::decoding);
    at::Tensor last;
    for (int64_t i = 0; i < 5; ++i) {
      const at::Tensor token = x.narrow(1, i, 1);
      const bool given = std::ranges::find(with_padding, i) != with_padding.end();
      auto layout = nn::AttentionArgs::self({std::nullopt, 0, given ? padding.narrow(1, i, 1) : at::Tensor()});
      layout.causal = true;
      layout.state = state.get();
      last = attention.forward(token, token, layout);
    }
    return last;
  };
  EXPECT_TRUE(at::allclose(decode({3}), decode({0, 1, 2, 3, 4}), 1e-6, 1e-7));
  EXPECT_FALSE(at::allclose(decode({}), decode({3}), 1e-3, 1e-3));
}

TEST(MultiHeadAttention, OneLaneBecomesSeveral) {
  nn::MultiHeadAttention attention({8, 2});
  const at::NoGradGuard no_grad;
  const at::Tensor first = at::randn({1, 3, 8}), second = at::randn({4, 1, 8});
  nn::AttentionArgs args;
  args.causal = true;
  const auto one = attention.make_state(1, nn::SessionUse::decoding);
  args.state = one.get();
  attention.forward(first, first, args);
  one->reorder(at::zeros({4}, at::kLong));
  const at::Tensor beams = attention.forward(second, second, args);

  const auto four = attention.make_state(4, nn::SessionUse::decoding);
  args.state = four.get();
  const at::Tensor prefix = first.expand({4, 3, 8}).contiguous();
  attention.forward(prefix, prefix, args);
  EXPECT_TRUE(at::allclose(beams, attention.forward(second, second, args), 1e-5, 1e-6));
}

TEST(MultiHeadAttention, AFixedContextIsProjectedOnceAndServesEveryCall) {
  nn::AttentionOptions reformer;
  reformer.function = nn::LshOptions{};
  for (const bool own : {true, false})  // a context of each batch row's own, or one for all
    for (const auto& options : {nn::AttentionOptions{}, reformer}) {
      nn::MultiHeadOptions heads{8, 2, options, nn::Projection::separate};
      if (options.function.index() == 0) heads.context_dim = 6;
      const auto attention = std::make_shared<nn::MultiHeadAttention>(heads);
      attention->to(at::kDouble);
      attention->eval();
      const int64_t context_dim = heads.context_dim > 0 ? heads.context_dim : 8;
      const at::Tensor context = at::randn({own ? 2 : 1, 5, context_dim}, at::kDouble);
      nn::AttentionArgs args, streamed;
      args.context.padding =
          at::tensor({0, 0, 0, 0, 1, 0, 0, 0, 1, 1}).view({2, 5}).narrow(0, 0, own ? 2 : 1).to(at::kBool);
      streamed = args;
      const auto state = attention->make_state(2, nn::SessionUse::fixed_context);
      streamed.state = state.get();
      for (int64_t i = 0; i < 3; ++i) {
        const at::Tensor query = at::randn({2, 1, 8}, at::kDouble);
        const at::Tensor anew = attention->forward(query, context, args);
        const at::Tensor kept = attention->forward(query, i == 0 ? context : at::Tensor(), streamed);
        EXPECT_TRUE(at::allclose(kept, anew, 1e-12, 1e-14)) << "call " << i;
      }
      // Beams: batch row 1 three times.
      state->reorder(at::tensor({1, 1, 1}, at::kLong));
      const at::Tensor query = at::randn({3, 1, 8}, at::kDouble);
      nn::AttentionArgs beams;
      beams.context.padding = args.context.padding.narrow(0, own ? 1 : 0, 1);
      EXPECT_TRUE(at::allclose(attention->forward(query, {}, streamed),
                               attention->forward(query, context.narrow(0, own ? 1 : 0, 1), beams), 1e-12, 1e-14));
      const auto restored = attention->make_state(1, nn::SessionUse::fixed_context);
      restored->load(state->named_tensors());
      nn::AttentionArgs again = streamed;
      again.state = restored.get();
      EXPECT_TRUE(at::equal(attention->forward(query, {}, streamed), attention->forward(query, {}, again)));
    }
}

TEST(MultiHeadAttention, DecodingWithoutGradientsEqualsDecodingWithThem) {
  nn::MultiHeadAttention attention({8, 2});
  const at::Tensor x = at::randn({2, 40, 8});
  const auto decode = [&] {
    nn::AttentionArgs args;
    args.causal = true;
    const auto state = attention.make_state(2, nn::SessionUse::decoding);
    args.state = state.get();
    const auto decode_one = [&](const at::Tensor& token) { return attention.forward(token, token, args); };
    std::vector<at::Tensor> all;
    for (int64_t i = 0; i < 40; ++i) all.push_back(decode_one(x.narrow(1, i, 1)));
    return at::cat(all, 1).detach();
  };
  const at::Tensor with = decode();
  const at::NoGradGuard no_grad;
  EXPECT_TRUE(at::allclose(decode(), with, 1e-5, 1e-6));
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
  test::expect_gradients([&](const auto& in) { return attention.forward(in[0], in[0], {}).pow(2).sum(); }, inputs);
}

TEST(MultiHeadAttention, NamesWhatItRefuses) {
  expect_refused([] { nn::MultiHeadAttention({10, 3}); }, "num_heads must divide dim, but 3 does not divide 10");
  nn::MultiHeadAttention fused({8, 2}), separate({8, 2, {}, nn::Projection::separate});
  const at::Tensor x = at::randn({2, 4, 8});
  expect_refused([&] { fused.forward(x, at::randn({2, 4, 8}), {}); }, "fused projections are for self-attention only");
  expect_refused([&] { fused.forward(x[0], x[0], {}); }, "query must be (B, L, D)");
  const at::Tensor wide = at::randn({2, 4, 10});
  expect_refused([&] { fused.forward(wide, wide, {}); },
                 "multi_head_attention: query must be (B, L, 8), got [2, 4, 10]");
  expect_refused([&] { separate.forward(x, wide, {}); }, "context must be (B, L, 8), got [2, 4, 10]");
  expect_refused([&] { fused.make_state(2, nn::SessionUse::fixed_context); }, "which cannot have a fixed context");
  expect_refused(
      [&] {
        separate.forward(x, at::randn({3, 4, 8}), {});
      },
      "the batch of the context must be 1 or the batch of the query, 2, got 3");
  nn::AttentionArgs args;
  args.query.grid = nn::Grid{2, 3};
  expect_refused([&] { fused.forward(x, x, args); },
                 "query has 4 tokens, but the layout has 0 class tokens and a grid of 2 x 3, which are 6 tokens");
}

}  // namespace
}  // namespace cachet
