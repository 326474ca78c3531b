#include "cachet/ops/tokens/resize_tokens.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/support/gradient_check.h"
#include "tests/support/refused.h"

namespace cachet {
namespace {

using test::expect_refused;

TEST(ResizeTokens, TakesTheTokenBelowEachFraction) {
  for (int64_t from = 1; from <= 9; ++from)
    for (int64_t to = 1; to <= 12; ++to) {
      const at::Tensor x = at::arange(2 * from * 3).view({2, from, 3}).to(at::kFloat);
      const at::Tensor y = ops::resize_tokens(x, to);
      for (int64_t i = 0; i < to; ++i)
        ASSERT_TRUE(at::equal(y.select(1, i), x.select(1, i * from / to))) << from << " -> " << to << " at " << i;
    }
}

TEST(ResizeTokens, PaddingNeverEntersWhereverItLies) {
  const at::Tensor x = at::randn({2, 5, 3});
  const at::Tensor padding = at::tensor({0, 1, 0, 1, 0, 1, 1, 1, 1, 1}).view({2, 5}).to(at::kBool);
  const at::Tensor noisy = x.masked_fill(padding.unsqueeze(2), std::numeric_limits<float>::quiet_NaN());
  const at::Tensor y = ops::resize_tokens(noisy, 4, padding);
  const at::Tensor valid = x[0].index_select(0, at::tensor({int64_t{0}, int64_t{2}, int64_t{4}})).unsqueeze(0);
  EXPECT_TRUE(at::equal(y[0], ops::resize_tokens(valid, 4)[0]));
  EXPECT_TRUE(at::equal(y[1], at::zeros({4, 3}))) << "a sample without valid tokens";
}

TEST(ResizeTokens, GradientEqualsFiniteDifferences) {
  const at::Tensor weight = at::randn({2, 7, 3}, at::kDouble);
  const at::Tensor padding = at::tensor({0, 0, 0, 1, 0, 0, 1, 1}).view({2, 4}).to(at::kBool);
  test::expect_gradients([&](const auto& in) { return (ops::resize_tokens(in[0], 7) * weight).sum(); },
                         {at::randn({2, 4, 3})});
  test::expect_gradients([&](const auto& in) { return (ops::resize_tokens(in[0], 7, padding) * weight).sum(); },
                         {at::randn({2, 4, 3})});
}

TEST(ResizeTokens, AnswersShapesOnTheMetaDevice) {
  const at::Tensor x = at::empty({2, 5, 3}, at::kMeta),
                   padding = at::empty({2, 5}, at::dtype(at::kBool).device(at::kMeta));
  EXPECT_EQ(ops::resize_tokens(x, 9).sizes(), at::IntArrayRef({2, 9, 3}));
  EXPECT_EQ(ops::resize_tokens(x, 9, padding).sizes(), at::IntArrayRef({2, 9, 3}));
  const at::Tensor leaf = at::empty({2, 5, 3}, at::kMeta).requires_grad_();
  ops::resize_tokens(leaf, 9).sum().backward();
  ASSERT_TRUE(leaf.grad().defined());
  EXPECT_EQ(leaf.grad().sizes(), leaf.sizes());
}

TEST(ResizeTokens, NamesWhatItRefuses) {
  const at::Tensor x = at::randn({2, 5, 3});
  expect_refused([&] { ops::resize_tokens(x[0], 4); }, "tokens must be (B, L, C)");
  expect_refused([&] { ops::resize_tokens(x.slice(1, 0, 0), 4); }, "L >= 1");
  expect_refused([&] { ops::resize_tokens(x, 0); }, "length must be at least 1, got 0");
  expect_refused([&] { ops::resize_tokens(x, 4, at::zeros({2, 4}, at::kBool)); }, "padding must be bool (B, L)");
  expect_refused([&] { ops::resize_tokens(x, 4, at::zeros({2, 5})); }, "padding must be bool (B, L)");
}

}  // namespace
}  // namespace cachet
