#include "cachet/ops/linear/linear_cross_entropy.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/support/fused_against_composite.h"
#include "tests/support/gradient_check.h"
#include "tests/support/refused.h"

namespace cachet {
namespace {

using test::expect_refused;
using test::Tensors;

at::Tensor targets(std::vector<int64_t> ids) { return at::tensor(ids, at::kLong); }

TEST(LinearCrossEntropy, IsThatOfATen) {
  const at::Tensor x = at::randn({4, 3}, at::kDouble), weight = at::randn({5, 3}, at::kDouble),
                   bias = at::randn({5}, at::kDouble), target = targets({4, 0, 2, 2});
  const auto [loss, likelihood] = ops::linear_cross_entropy(x, weight, bias, target);
  const at::Tensor expected = at::cross_entropy_loss(at::linear(x, weight, bias), target, {}, at::Reduction::None);
  EXPECT_TRUE(at::allclose(loss, expected, 0, 1e-14));
  EXPECT_TRUE(at::equal(loss, likelihood));
}

TEST(LinearCrossEntropy, TheOtherClassesShareTheSmoothing) {
  // ATen's own spreads ε over all V classes; ε' = ε·V/(V − 1) of that is ε among the others.
  const at::Tensor x = at::randn({4, 3}, at::kDouble), weight = at::randn({5, 3}, at::kDouble);
  const at::Tensor target = targets({4, 0, 2, 2});
  const auto [loss, likelihood] = ops::linear_cross_entropy(x, weight, {}, target, 0.1);
  const at::Tensor scores = at::linear(x, weight);
  EXPECT_TRUE(
      at::allclose(loss, at::cross_entropy_loss(scores, target, {}, at::Reduction::None, -100, 0.1 * 5 / 4), 0, 1e-14));
  EXPECT_TRUE(at::allclose(likelihood, at::cross_entropy_loss(scores, target, {}, at::Reduction::None), 0, 1e-14));
}

TEST(LinearCrossEntropy, ARowWithoutATargetCostsNothing) {
  for (const auto dtype : {at::kDouble, at::kFloat, at::kBFloat16}) {
    const at::Tensor x = at::randn({3, 4}).to(dtype).requires_grad_();
    const at::Tensor weight = at::randn({5, 4}).to(dtype).requires_grad_();
    const auto [loss, likelihood] = ops::linear_cross_entropy(x, weight, {}, targets({2, -1, 0}), 0.1);
    EXPECT_EQ(loss[1].item<double>(), 0);
    EXPECT_EQ(likelihood[1].item<double>(), 0);
    loss.sum().backward();
    EXPECT_TRUE(at::equal(x.grad()[1], at::zeros({4}, dtype)));
  }
}

TEST(LinearCrossEntropy, GradientEqualsFiniteDifferences) {
  const at::Tensor weight_of_row = at::randn({4}, at::kDouble), target = targets({1, -1, 4, 0});
  for (const double smoothing : {0.0, 0.2}) {
    test::expect_gradients(
        [&](const auto& in) {
          return (ops::linear_cross_entropy(in[0], in[1], in[2], target, smoothing).loss * weight_of_row).sum();
        },
        {at::randn({4, 3}), at::randn({5, 3}), at::randn({5})});
    test::expect_gradients(
        [&](const auto& in) {
          return (ops::linear_cross_entropy(in[0], in[1], {}, target, smoothing).loss * weight_of_row).sum();
        },
        {at::randn({4, 3}), at::randn({5, 3})});
  }
}

TEST(LinearCrossEntropy, FusedEqualsComposite) {
  for (const int64_t rows : {0, 1, 70})
    for (const int64_t classes : {1, 2, 33, 1000})
      for (const double smoothing : {0.0, 0.1}) {
        if (classes == 1 && smoothing > 0) continue;
        const at::Tensor target = at::randint(-1, classes, {rows}, at::kLong);
        for (const bool biased : {false, true}) {
          Tensors in{at::randn({rows, 24}), at::randn({classes, 24}) * 0.3};
          if (biased) in.push_back(at::randn({classes}));
          test::expect_fused_equals_composite(
              [&](const Tensors& in) -> Tensors {
                return {ops::linear_cross_entropy(in[0], in[1], in.size() > 2 ? std::optional(in[2]) : std::nullopt,
                                                  target, smoothing)
                            .loss};
              },
              in, std::to_string(rows) + " rows, " + std::to_string(classes) + " classes");
        }
      }
}

TEST(LinearCrossEntropy, RowsThatAreMadeAFewAtATimeAreTheSame) {
  // So many classes that scores which nobody keeps are made 8 rows at a time.
  const at::Tensor x = at::randn({20, 4}), weight = at::randn({1'000'000, 4}), target = at::randint(0, 999'999, {20});
  const auto whole = ops::linear_cross_entropy(x.clone().requires_grad_(), weight, {}, target);
  const auto pieces = ops::linear_cross_entropy(x, weight, {}, target);
  EXPECT_TRUE(at::allclose(whole.loss, pieces.loss, 0, 1e-5));
}

TEST(LinearCrossEntropy, TheLikelihoodHasNoGradient) {
  for (const auto dtype : {at::kDouble, at::kFloat}) {
    const at::Tensor x = at::randn({2, 3}, dtype).requires_grad_();
    EXPECT_FALSE(ops::linear_cross_entropy(x, at::randn({5, 3}, dtype), {}, targets({1, 2}))
                     .negative_log_likelihood.requires_grad());
  }
}

TEST(LinearCrossEntropy, NamesWhatItRefuses) {
  const at::Tensor x = at::randn({2, 3}), weight = at::randn({5, 3}), target = targets({1, 2});
  const auto refuses = [&](const char* why, const at::Tensor& x, const at::Tensor& weight, const at::Tensor& target,
                           double smoothing = 0, const std::optional<at::Tensor>& bias = {}) {
    expect_refused([&] { ops::linear_cross_entropy(x, weight, bias, target, smoothing); }, why);
  };
  refuses("x must be floating (N, D)", x[0], weight, target);
  refuses("weight must be (V, D) with D = 3", x, at::randn({5, 4}), target);
  refuses("with D = 3 and at least one class, got [0, 3]", x, at::randn({0, 3}), target);
  refuses("x is Float, weight Double", x, weight.to(at::kDouble), target);
  refuses("bias must be (V) = (5)", x, weight, target, 0, at::randn({4}));
  refuses("target must be", x, weight, targets({1}));
  refuses("target must be", x, weight, target.to(at::kInt));
  refuses("label_smoothing must be in [0, 1), got 1", x, weight, target, 1);
  refuses("label_smoothing needs at least two classes", x, weight[0].unsqueeze(0), targets({0, 0}), 0.1);
  for (const int64_t wrong : {-2, 5}) {
    const at::Tensor ids = targets({1, wrong});
    refuses(("target 1 must be a class from 0 to 4, or -1 for no class, got " + std::to_string(wrong)).c_str(), x,
            weight, ids);
    EXPECT_THROW(ops::linear_cross_entropy(x.to(at::kDouble), weight.to(at::kDouble), {}, ids), c10::Error) << wrong;
  }
}

}  // namespace
}  // namespace cachet
