#include "cachet/ops/tokens/token_convolution.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/support/fused_against_composite.h"
#include "tests/support/gradient_check.h"
#include "tests/support/refused.h"

namespace cachet {
namespace {

using test::Tensors;

TEST(TokenConvolution, FusedEqualsComposite) {
  for (const int64_t group : {1, 2, 4, 8})  // those that have a kernel
    for (const int64_t class_tokens : {0, 2})
      for (const auto& [height, width] : {std::pair<int64_t, int64_t>{1, 1}, {3, 5}, {7, 14}})
        for (const int64_t dim : {24, 72}) {
          const int64_t tokens = class_tokens + height * width;
          const ops::TokenGrid grid{height, width, class_tokens};
          const Tensors inputs{at::randn({2, tokens, dim}), at::randn({dim, group, 3, 3}) * 0.3, at::randn({dim}),
                               at::randn({dim, 2, tokens}).permute({1, 2, 0})};
          test::expect_fused_equals_composite(
              [&](const Tensors& in) -> Tensors { return {ops::token_convolution(in[0], in[1], in[2], grid, in[3])}; },
              inputs, "group " + std::to_string(group) + ", grid " + std::to_string(height));
          const auto with_gelu = [&](const Tensors& in) -> Tensors {
            return {ops::token_convolution(in[0], in[1], in[2], grid, in[3], ops::AfterConvolution::gelu)};
          };
          test::expect_fused_equals_composite(with_gelu, inputs, "gelu");
          test::expect_fused_equals_composite(
              [&](const Tensors& in) -> Tensors { return {ops::token_convolution(in[0], in[1], {}, grid)}; },
              {inputs[0].transpose(0, 1).contiguous().transpose(0, 1), inputs[1]}, "no bias, strided");
        }
}

TEST(TokenConvolution, IsATensConvolutionOfTheGridAlone) {
  const at::Tensor x = at::randn({2, 1 + 12, 6}, at::kDouble), weight = at::randn({6, 2, 3, 3}, at::kDouble);
  const at::Tensor y = ops::token_convolution(x, weight, {}, {3, 4, 1});
  EXPECT_TRUE(at::equal(y.select(1, 0), at::zeros({2, 6}, at::kDouble))) << "the class token gets nothing";
  const at::Tensor image = x.slice(1, 1).view({2, 3, 4, 6}).permute({0, 3, 1, 2});
  const at::Tensor expected = at::conv2d(image, weight, {}, 1, 1, 1, 3).permute({0, 2, 3, 1}).reshape({2, 12, 6});
  EXPECT_TRUE(at::allclose(y.slice(1, 1), expected, 1e-12, 1e-12));
}

TEST(TokenConvolution, GradientEqualsFiniteDifferences) {
  const at::Tensor kept = at::randn({2, 7, 4}, at::kDouble);
  test::expect_gradients(
      [&](const auto& in) {
        return (ops::token_convolution(in[0], in[1], in[2], {2, 3, 1}, in[3]) * kept).sum();
      },
      {at::randn({2, 7, 4}), at::randn({4, 2, 3, 3}), at::randn({4}), at::randn({2, 7, 4})});
  test::expect_gradients(
      [&](const auto& in) {
        return (ops::token_convolution(in[0], in[1], in[2], {2, 3, 1}, {}, ops::AfterConvolution::gelu) * kept).sum();
      },
      {at::randn({2, 7, 4}), at::randn({4, 2, 3, 3}), at::randn({4})});
}

TEST(TokenConvolution, NamesWhatItRefuses) {
  using test::expect_refused;
  const at::Tensor x = at::randn({2, 7, 4}), weight = at::randn({4, 2, 3, 3});
  expect_refused(
      [&] {
        ops::token_convolution(x, weight, {}, {2, 2, 1});
      },
      "1 class tokens + a grid of 2 x 2 tokens must equal the number of tokens, which is 7");
  expect_refused([&] { ops::token_convolution(x[0], weight, {}, {2, 3, 1}); }, "tokens must be floating (B, L, D)");
  expect_refused(
      [&] {
        ops::token_convolution(x, at::randn({4, 3, 3, 3}), {}, {2, 3, 1});
      },
      "weight must be (D, D / groups, 3, 3)");
  expect_refused(
      [&] {
        ops::token_convolution(x, weight.to(at::kDouble), {}, {2, 3, 1});
      },
      "weight must have the dtype of tokens, Float, got Double");
  expect_refused([&] { ops::token_convolution(x, weight, at::ones({3}), {2, 3, 1}); }, "bias must be (D) = (4)");
  expect_refused([&] { ops::token_convolution(x, weight.to(at::kMeta), {}, {2, 3, 1}); }, "weight is on meta");
  expect_refused(
      [&] {
        ops::token_convolution(x, weight, {}, {2, 3, 1}, at::ones({2, 7, 3}));
      },
      "addend must have the dtype and sizes of tokens");
}

}  // namespace
}  // namespace cachet
