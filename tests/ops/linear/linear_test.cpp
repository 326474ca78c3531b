#include "cachet/ops/linear/linear.h"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <gtest/gtest.h>

#include <limits>

#include "cachet/ops/linear/product.h"
#include "tests/support/fused_against_composite.h"
#include "tests/support/gradient_check.h"
#include "tests/support/refused.h"

namespace cachet {
namespace {

using test::Tensors;

TEST(Linear, EqualsATensOwn) {
  for (const auto& [k, n] : {std::pair<int64_t, int64_t>{1, 1}, {16, 5}, {33, 64}})
    for (const int64_t rows : {0, 1, 70}) {
      // Rows as a slice of wider ones leaves them.
      const Tensors inputs{at::randn({2, rows, 2 * k}).narrow(2, 0, k), at::randn({n, k}) * 0.3, at::randn({n})};
      test::expect_fused_equals_composite(
          [](const Tensors& in) -> Tensors {
            return {ops::linear(in[0], in[1], in[2].to(in[1].scalar_type())), ops::linear(in[0], in[1])};
          },
          inputs, "K " + std::to_string(k) + ", rows " + std::to_string(rows));
    }
}

TEST(LinearGelu, FusedEqualsComposite) {
  for (const auto& [k, n] : {std::pair<int64_t, int64_t>{1, 1}, {16, 5}, {33, 64}})
    for (const int64_t rows : {0, 1, 70}) {
      const Tensors inputs{at::randn({2, rows, 2 * k}).narrow(2, 0, k), at::randn({n, k}) * 0.3, at::randn({n})};
      test::expect_fused_equals_composite(
          [](const Tensors& in) -> Tensors { return {ops::linear_gelu(in[0], in[1], in[2])}; }, inputs,
          "K " + std::to_string(k) + ", rows " + std::to_string(rows));
    }
}

TEST(LinearGelu, WithoutGradientIsTheSame) {
  const at::Tensor x = at::randn({3, 5, 16}), weight = at::randn({8, 16}).requires_grad_(), bias = at::randn({8});
  const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("cachet::linear_gelu", "");
  for (const bool keep : {false, true}) {
    torch::jit::Stack stack{x, weight, bias, keep};
    op.callBoxed(&stack);
    EXPECT_EQ(stack.at(1).toTensor().numel() > 0, keep) << "with a gradient to come as without";
  }
  const at::Tensor with = ops::linear_gelu(x, weight, bias);
  EXPECT_TRUE(with.requires_grad());
  const at::NoGradGuard no_grad;
  EXPECT_TRUE(at::allclose(ops::linear_gelu(x, weight, bias), with, 1e-5, 1e-6));
}

TEST(LinearGelu, GradientEqualsFiniteDifferences) {
  const at::Tensor kept = at::randn({2, 3, 5}, at::kDouble);
  test::expect_gradients([&](const auto& in) { return (ops::linear_gelu(in[0], in[1], in[2]) * kept).sum(); },
                         {at::randn({2, 3, 4}), at::randn({5, 4}), at::randn({5})});
  test::expect_gradients([&](const auto& in) { return (ops::linear(in[0], in[1], in[2]) * kept).sum(); },
                         {at::randn({2, 3, 4}), at::randn({5, 4}), at::randn({5})});
}

TEST(LinearGelu, NamesWhatItRefuses) {
  using test::expect_refused;
  const at::Tensor x = at::randn({2, 4}), weight = at::randn({5, 4}), bias = at::randn({5});
  expect_refused(
      [&] {
        ops::linear_gelu(x, at::randn({5, 3}), bias);
      },
      "linear_gelu: weight must be (N, K) with K = 4");
  expect_refused([&] { ops::linear_gelu(x, weight, at::randn({4})); }, "bias must be (N) = (5), got [4]");
  expect_refused([&] { ops::linear_gelu(x, weight.to(at::kDouble), bias); }, "x is Float, weight Double");
  expect_refused([&] { ops::linear_gelu(x, weight.to(at::kMeta), bias); }, "weight is on meta");
}

TEST(Product, OfRowsThatLieApartReadsNothingBetweenThem) {
  for (const int64_t width : {5, 16, 31, 48, 80}) {  // no whole tiles of 32
    const at::Tensor wide = at::full({40, width + 32}, std::numeric_limits<double>::quiet_NaN(), at::kBFloat16);
    at::Tensor x = wide.narrow(1, 0, width);
    x.copy_(at::randn({40, width}));
    const at::Tensor weight = at::randn({24, width}).to(at::kBFloat16);
    const at::Tensor expected = at::linear(x.contiguous(), weight);
    EXPECT_TRUE(at::equal(ops::linear_no_grad(x, weight), expected)) << width;
    EXPECT_TRUE(at::isfinite(ops::linear_no_grad(x, weight)).all().item<bool>()) << width;
  }
}

}  // namespace
}  // namespace cachet
