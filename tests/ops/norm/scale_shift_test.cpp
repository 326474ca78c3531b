#include "cachet/ops/norm/scale_shift.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/support/gradient_check.h"
#include "tests/support/refused.h"

namespace cachet {
namespace {

TEST(ScaleShift, IsTheAffineMapInTheInputsType) {
  const at::Tensor scale = at::rand({5}), shift = at::randn({5});
  for (const auto dtype : {at::kFloat, at::kBFloat16, at::kDouble}) {
    const at::Tensor x = at::randn({2, 3, 5}).to(dtype);
    const at::Tensor y = ops::scale_shift(x, scale, shift);
    EXPECT_EQ(y.scalar_type(), dtype);
    // One rounding of the result to its type, and one of the product and sum in float32.
    const at::Tensor expected = (x.to(at::kDouble) * scale + shift).to(dtype);
    EXPECT_TRUE(at::allclose(y.to(at::kDouble), expected.to(at::kDouble), dtype == at::kBFloat16 ? 8e-3 : 1e-6, 1e-6));
  }
  EXPECT_TRUE(at::equal(ops::scale_shift(at::ones({1, 5}), scale, {}), scale.unsqueeze(0)));
  EXPECT_EQ(ops::scale_shift(at::randn({0, 5}), scale, shift).numel(), 0);
}

TEST(ScaleShift, GradientEqualsFiniteDifferences) {
  const at::Tensor weight = at::randn({2, 3, 4}, at::kDouble);
  test::expect_gradients([&](const auto& in) { return (ops::scale_shift(in[0], in[1], in[2]) * weight).sum(); },
                         {at::randn({2, 3, 4}), at::randn({4}), at::randn({4})});
  test::expect_gradients([&](const auto& in) { return (ops::scale_shift(in[0], in[1], {}) * weight).sum(); },
                         {at::randn({2, 3, 4}), at::randn({4})});
}

TEST(ScaleShift, NamesWhatItRefuses) {
  const at::Tensor x = at::randn({2, 3});
  test::expect_refused([&] { ops::scale_shift(x, at::ones({4}), {}); }, "scale_shift: scale must be (C) = (3)");
  test::expect_refused([&] { ops::scale_shift(x, at::ones({3}), at::ones({2})); }, "shift must be (C) = (3)");
  test::expect_refused([&] { ops::scale_shift(x, at::ones({3}, at::kBFloat16), {}); }, "float32 or float64");
  test::expect_refused([&] { ops::scale_shift(x.to(at::kLong), at::ones({3}), {}); }, "input must be floating");
  test::expect_refused([&] { ops::scale_shift(x, at::ones({3}), at::ones({3}, at::kDouble)); },
                       "shift must have the dtype of scale, Float, got Double");
  test::expect_refused([&] { ops::scale_shift(x, at::ones({3}, at::kMeta), {}); },
                       "scale is on meta, but other operands are on cpu");
}

}  // namespace
}  // namespace cachet
