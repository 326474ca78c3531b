#include "cachet/ops/attention/attention_weights.h"

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

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(AttentionWeights, AreTheSoftmaxWithTheBiasOfEachWindow) {
  const at::Tensor scores = at::randn({6, 2, 3, 5}, at::kDouble), bias = at::randn({3, 2, 3, 5}, at::kDouble);
  const at::Tensor weights = ops::attention_weights(scores, bias, 0.7);
  EXPECT_TRUE(at::allclose(weights, at::softmax(scores * 0.7 + bias.repeat({2, 1, 1, 1}), -1), 0, 1e-14));
  EXPECT_TRUE(at::allclose(ops::attention_weights(scores, {}, 0.7), at::softmax(scores * 0.7, -1), 0, 1e-14));
}

TEST(AttentionWeights, AQueryThatSeesNoKeyGetsZeros) {
  for (const auto dtype : {at::kDouble, at::kFloat, at::kBFloat16}) {
    const at::Tensor scores = at::randn({2, 1, 2, 3}).to(dtype).requires_grad_();
    at::Tensor bias = at::zeros({1, 1, 2, 3});
    bias.select(2, 0).fill_(-kInfinity);
    const at::Tensor weights = ops::attention_weights(scores, bias, 1.0);
    EXPECT_TRUE(at::equal(weights.select(2, 0), at::zeros({2, 1, 3}, dtype)));
    weights.pow(2).sum().backward();
    EXPECT_TRUE(at::equal(scores.grad().select(2, 0), at::zeros({2, 1, 3}, dtype))) << "and its gradient is no NaN";
  }
}

TEST(AttentionWeights, GradientEqualsFiniteDifferences) {
  const at::Tensor weight = at::randn({4, 2, 2, 3}, at::kDouble);
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{2, 2, 2, 3}, {1, 1, 1, 3}})
    test::expect_gradients([&](const auto& in) { return (ops::attention_weights(in[0], in[1], 0.5) * weight).sum(); },
                           {at::randn({4, 2, 2, 3}), at::randn(shape)});
  test::expect_gradients([&](const auto& in) { return (ops::attention_weights(in[0], {}, 0.5) * weight).sum(); },
                         {at::randn({4, 2, 2, 3})});
}

TEST(AttentionWeights, FusedEqualsComposite) {
  for (const int64_t keys : {0, 1, 49, 197})
    for (const std::vector<int64_t>& shape :
         {std::vector<int64_t>{}, {1, 3, 5, keys}, {2, 3, 5, keys}, {2, 1, 1, keys}, {4, 3, 1, 1}})
      test::expect_fused_equals_composite(
          [&](const Tensors& in) -> Tensors {
            return {ops::attention_weights(in[0], in.size() > 1 ? std::optional(in[1]) : std::nullopt, 0.3)};
          },
          shape.empty() ? Tensors{at::randn({4, 3, keys, 5}).transpose(2, 3)}
                        : Tensors{at::randn({4, 3, keys, 5}).transpose(2, 3), at::randn(shape)},
          "keys " + std::to_string(keys) + ", " + std::to_string(shape.size()));
}

TEST(AttentionWeights, NamesWhatItRefuses) {
  const at::Tensor scores = at::randn({4, 2, 3, 5});
  expect_refused([&] { ops::attention_weights(scores[0], {}, 1.0); }, "scores must be floating (B, H, Lq, Lk)");
  expect_refused(
      [&] {
        ops::attention_weights(scores, at::randn({3, 2, 3, 5}), 1.0);
      },
      "the windows of the bias must divide the batch of scores, but 3 does not divide 4");
  expect_refused([&] { ops::attention_weights(scores, at::randn({1, 2, 3, 4}), 1.0); }, "bias must be floating");
  expect_refused([&] { ops::attention_weights(scores, at::zeros({1, 1, 3, 5}, at::kBool), 1.0); }, "got Bool");
  expect_refused([&] { ops::attention_weights(scores, at::randn({1, 2, 3, 5}, at::kMeta), 1.0); }, "bias is on meta");
}

}  // namespace
}  // namespace cachet
