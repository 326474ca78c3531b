#include "cachet/ops/attention/relative_attention_weights.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/support/fused_against_composite.h"
#include "tests/support/gradient_check.h"
#include "tests/support/refused.h"

namespace cachet {
namespace {

using test::expect_refused;
using test::Tensors;

at::Tensor causal_mask(int64_t queries, int64_t keys) {
  return at::ones({queries, keys}, at::kBool).triu(keys - queries + 1);
}

TEST(RelativeAttentionWeights, GiveEachPairTheScoreOfItsDistance) {
  const int64_t queries = 4, keys = 7;
  const at::Tensor content = at::randn({2, 3, queries, keys}, at::kDouble), position = at::randn_like(content);
  at::Tensor scores = at::full_like(content, -std::numeric_limits<double>::infinity());
  for (int64_t i = 0; i < queries; ++i)
    for (int64_t j = 0; j <= i + keys - queries; ++j) {
      const int64_t distance = i + keys - queries - j;
      scores.select(2, i).select(2, j).copy_(
          0.7 * (content.select(2, i).select(2, j) + position.select(2, i).select(2, keys - 1 - distance)));
    }
  const at::Tensor weights = ops::relative_attention_weights(content, position, causal_mask(queries, keys), 0.7);
  EXPECT_TRUE(at::allclose(weights, scores.softmax(-1), 0, 1e-14));
}

TEST(RelativeAttentionWeights, AQueryThatSeesNoKeyGetsZeros) {
  for (const auto dtype : {at::kDouble, at::kFloat, at::kBFloat16}) {
    const at::Tensor content = at::randn({2, 1, 2, 3}).to(dtype).requires_grad_();
    const at::Tensor position = at::randn({2, 1, 2, 3}).to(dtype).requires_grad_();
    at::Tensor hidden = at::zeros({2, 3}, at::kBool);
    hidden.select(0, 0).fill_(true);
    const at::Tensor weights = ops::relative_attention_weights(content, position, hidden, 1.0);
    EXPECT_TRUE(at::equal(weights.select(2, 0), at::zeros({2, 1, 3}, dtype)));
    weights.pow(2).sum().backward();
    EXPECT_TRUE(at::equal(content.grad().select(2, 0), at::zeros({2, 1, 3}, dtype))) << "and its gradient is no NaN";
    EXPECT_FALSE(position.grad().isnan().any().item<bool>());
  }
}

TEST(RelativeAttentionWeights, GradientEqualsFiniteDifferences) {
  const at::Tensor weight = at::randn({2, 2, 3, 4}, at::kDouble);
  for (const bool causal : {true, false}) {
    std::optional<at::Tensor> hidden;
    if (causal) hidden = causal_mask(3, 4);
    test::expect_gradients(
        [&](const auto& in) { return (ops::relative_attention_weights(in[0], in[1], hidden, 0.5) * weight).sum(); },
        {at::randn({2, 2, 3, 4}), at::randn({2, 2, 3, 4})});
  }
}

TEST(RelativeAttentionWeights, FusedEqualsComposite) {
  for (const auto& [queries, keys] :
       std::vector<std::pair<int64_t, int64_t>>{{0, 0}, {1, 1}, {5, 5}, {1, 33}, {17, 49}, {64, 197}})
    for (const bool causal : {true, false}) {
      std::optional<at::Tensor> hidden;
      if (causal) hidden = causal_mask(queries, keys);
      test::expect_fused_equals_composite(
          [&](const Tensors& in) -> Tensors { return {ops::relative_attention_weights(in[0], in[1], hidden, 0.3)}; },
          {at::randn({4, 3, keys, queries}).transpose(2, 3), at::randn({4, 3, queries, keys})},
          std::to_string(queries) + " queries, " + std::to_string(keys) + " keys" + (causal ? ", causal" : ""));
    }
}

TEST(RelativeAttentionWeights, NamesWhatItRefuses) {
  const at::Tensor content = at::randn({4, 2, 3, 5}), position = at::randn({4, 2, 3, 5});
  const auto refuses = [](const char* why, const at::Tensor& content, const at::Tensor& position,
                          const std::optional<at::Tensor>& hidden = {}) {
    expect_refused([&] { ops::relative_attention_weights(content, position, hidden, 1.0); }, why);
  };
  refuses("content must be floating (B, H, Lq, Lk)", content[0], position);
  refuses("with Lk of at least Lq", at::randn({4, 2, 5, 3}), position);
  refuses("position must be", content, at::randn({4, 2, 3, 4}));
  refuses("position must be", content, position.to(at::kDouble));
  refuses("hidden must be", content, position, at::zeros({3, 4}, at::kBool));
  refuses("hidden must be", content, position, at::zeros({3, 5}));
}

}  // namespace
}  // namespace cachet
