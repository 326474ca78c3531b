#include "cachet/nn/attention/functions/local_attention.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "cachet/nn/attention/functions/softmax_attention.h"
#include "cachet/nn/attention/multi_head_attention.h"
#include "tests/support/gradient_check.h"
#include "tests/support/refused.h"

namespace cachet {
namespace {

// What each query may see, written out: 0 where it may, −∞ where it may not.
at::Tensor band(int64_t lq, int64_t lk, int64_t window, const nn::AttentionArgs& args) {
  at::Tensor bias = at::full({lq, lk}, -std::numeric_limits<double>::infinity(), at::kDouble);
  const int64_t cq = args.causal ? 0 : args.query.class_tokens, ck = args.causal ? 0 : args.context.class_tokens;
  for (int64_t i = 0; i < lq; ++i)
    for (int64_t j = 0; j < lk; ++j) {
      const int64_t place = args.causal ? i + lk - lq : i < cq ? 0 : ck + (i - cq) * (lk - ck) / (lq - cq);
      const bool near = j >= place - window && j <= place + (args.causal ? 0 : window);
      if (near || i < cq || j < ck) bias[i][j] = 0;
    }
  return bias;
}

at::Tensor local_dense(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, int64_t window,
                       const nn::AttentionArgs& args) {
  nn::AttentionArgs all;
  all.context.padding = args.context.padding;
  all.bias = band(q.size(2), k.size(2), window, args);
  return nn::softmax_attention(q, k, v, all).nan_to_num(0.0);
}

TEST(LocalAttention, EqualsTheDenseFormForEveryLayout) {
  for (const auto& [lq, lk] : {std::pair{5, 5}, {1, 6}, {6, 2}, {64, 64}, {150, 150}, {65, 200}, {200, 65}, {131, 1}})
    for (const int64_t window : {0, 3, 40, 100})
      for (const bool causal : {false, true})
        for (const int64_t class_tokens : {0, 2})
          for (const bool padded : {false, true}) {
            if (class_tokens >= std::min(lq, lk)) continue;
            nn::LocalAttention attention({window});
            const at::Tensor q = at::randn({2, 2, lq, 4}, at::kDouble), k = at::randn({2, 2, lk, 4}, at::kDouble),
                             v = at::randn({2, 2, lk, 3}, at::kDouble);
            nn::AttentionArgs args;
            args.causal = causal;
            args.query.class_tokens = args.context.class_tokens = class_tokens;
            if (padded) {
              args.context.padding = at::zeros({2, lk}, at::kBool);
              args.context.padding[0].slice(0, lk / 2, lk / 2 + 2).fill_(true);
              args.context.padding[1].fill_(true);  // a sample without any key
            }
            EXPECT_TRUE(at::allclose(attention.forward(q, k, v, args), local_dense(q, k, v, window, args), 1e-9, 1e-10))
                << lq << 'x' << lk << " window " << window << " causal " << causal << " class tokens " << class_tokens
                << " padded " << padded;
          }
}

TEST(LocalAttention, QueriesStandAtTheSamePlaceOfAContextWhateverTheBatch) {
  for (const int64_t class_tokens : {0, 1}) {
    nn::LocalAttention attention({5}), earlier({.window = 5, .pattern_length = nn::PatternLength::batch});
    const at::Tensor q = at::randn({1, 2, 90, 4}), k = at::randn({1, 2, 33, 4});
    nn::AttentionArgs args;
    args.query.class_tokens = args.context.class_tokens = class_tokens;
    args.query.full_length = 90;
    const at::Tensor whole = attention.forward(q, k, k, args), part = q.slice(2, 0, 50);
    EXPECT_TRUE(at::allclose(attention.forward(part, k, k, args), whole.slice(2, 0, 50), 1e-5, 1e-6));
    EXPECT_FALSE(at::allclose(earlier.forward(part, k, k, args), whole.slice(2, 0, 50), 1e-5, 1e-6));
    args.query.full_length = 0;
    EXPECT_TRUE(at::equal(earlier.forward(part, k, k, args), attention.forward(part, k, k, args)));
  }
}

TEST(LocalAttention, GradientsEqualFiniteDifferences) {
  nn::AttentionArgs args;
  args.query.class_tokens = args.context.class_tokens = 1;
  args.context.padding = at::tensor({0, 0, 0, 0, 0, 0, 1, 0, 0, 1}).view({2, 5}).to(at::kBool);
  for (const bool causal : {false, true}) {
    nn::LocalAttention attention({1});
    args.causal = causal;
    test::expect_gradients([&](const auto& in) { return attention.forward(in[0], in[1], in[2], args).pow(2).sum(); },
                           {at::randn({2, 2, 4, 4}), at::randn({2, 2, 5, 4}), at::randn({2, 2, 5, 3})});
  }
}

TEST(LocalAttention, DecodingEqualsTheCausalWhole) {
  nn::AttentionOptions options;
  options.function = nn::LocalOptions{3};
  nn::MultiHeadAttention attention({8, 2, options});
  attention.to(at::kDouble);
  const at::Tensor x = at::randn({2, 70, 8}, at::kDouble);
  nn::AttentionArgs whole;
  whole.causal = true;
  const at::Tensor expected = attention.forward(x, x, whole);
  const auto state = attention.make_state(2, nn::SessionUse::decoding);
  for (const auto& [from, to] : {std::pair{0, 66}, {66, 67}, {67, 70}}) {
    nn::AttentionArgs args = whole;
    args.state = state.get();
    const at::Tensor part = x.slice(1, from, to);
    EXPECT_TRUE(at::allclose(attention.forward(part, part, args), expected.slice(1, from, to), 1e-9, 1e-10));
  }
}

TEST(LocalAttention, RefusesABias) {
  nn::AttentionArgs args;
  args.bias = at::zeros({1, 1, 3, 3});
  const at::Tensor x = at::randn({1, 2, 3, 4});
  test::expect_refused([&] { nn::LocalAttention({1}).forward(x, x, x, args); },
                       "local_attention: cannot use an attention bias");
  test::expect_refused([] { nn::LocalAttention({-1}); }, "window must be at least 0");
}

}  // namespace
}  // namespace cachet
