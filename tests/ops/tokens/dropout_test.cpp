#include "cachet/ops/tokens/dropout.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "cachet/ops/support/fused.h"
#include "cachet/ops/support/operator_handle.h"
#include "tests/support/gradient_check.h"
#include "tests/support/refused.h"

namespace cachet {
namespace {

at::Tensor with_seed(const at::Tensor& x, double p, int64_t seed) {
  static const auto op = ops::operator_handle<at::Tensor(const at::Tensor&, double, int64_t)>("cachet::dropout");
  return op.call(x, p, seed);
}

TEST(Dropout, KeepsTheRestScaledAndNothingBesides) {
  const at::Tensor x = at::rand({50, 40}) + 1;
  for (const auto dtype : {at::kFloat, at::kBFloat16, at::kDouble}) {
    const at::Tensor narrow = x.to(dtype), y = ops::dropout(narrow, 0.25, true);
    EXPECT_EQ(y.scalar_type(), dtype);
    EXPECT_TRUE(at::equal(y, at::where(y == 0, y, narrow * (1 / 0.75)))) << dtype;
    EXPECT_NEAR((y == 0).to(at::kDouble).mean().item<double>(), 0.25, 0.04) << dtype;  // four deviations
  }
}

TEST(Dropout, IsItsArgumentWhereNothingIsDropped) {
  const at::Tensor x = at::randn({3, 4});
  EXPECT_TRUE(ops::dropout(x, 0.5, false).is_same(x));
  EXPECT_TRUE(ops::dropout(x, 0.0, true).is_same(x));
  EXPECT_TRUE(at::equal(with_seed(x, 0.0, 1), x));
  EXPECT_TRUE(at::equal(ops::dropout(x, 1.0, true), at::zeros({3, 4})));
  EXPECT_EQ(ops::dropout(at::randn({0, 4}), 0.5, true).sizes(), at::IntArrayRef({0, 4}));
}

TEST(Dropout, DropsTheSameWhateverFormThreadsOrderAndType) {
  const at::Tensor x = at::randn({100, 1003});
  const int threads = at::get_num_threads();
  for (const auto dtype : {at::kFloat, at::kBFloat16}) {
    const at::Tensor narrow = x.to(dtype), fused = with_seed(narrow, 0.3, 5);
    at::set_num_threads(1);
    EXPECT_TRUE(at::equal(with_seed(narrow, 0.3, 5), fused));
    at::set_num_threads(threads);
    EXPECT_TRUE(at::equal(with_seed(narrow.t().contiguous().t(), 0.3, 5), fused));
    const ops::CompositeOnly composite;
    EXPECT_TRUE(at::equal(with_seed(narrow, 0.3, 5), fused)) << dtype;
  }
  EXPECT_TRUE(at::equal(with_seed(x.to(at::kDouble), 0.3, 5) == 0, with_seed(x, 0.3, 5) == 0));
  EXPECT_FALSE(at::equal(with_seed(x, 0.3, 6), with_seed(x, 0.3, 5)));
}

TEST(Dropout, IsAFunctionOfTheGeneratorsState) {
  const at::Tensor x = at::ones({1000});
  at::manual_seed(3);
  const at::Tensor first = ops::dropout(x, 0.5, true), second = ops::dropout(x, 0.5, true);
  EXPECT_FALSE(at::equal(first, second));
  at::manual_seed(3);
  EXPECT_TRUE(at::equal(ops::dropout(x, 0.5, true), first));
}

TEST(Dropout, ItsGradientsAreItself) {
  const at::Tensor x = at::randn({30, 5}).requires_grad_(), weight = at::randn({30, 5}).requires_grad_();
  const at::Tensor y = with_seed(x, 0.5, 9);
  const auto first = torch::autograd::grad({y}, {x}, {weight}, true, /*create_graph=*/true)[0];
  EXPECT_TRUE(at::equal(first, with_seed(weight, 0.5, 9)));
  EXPECT_TRUE(at::equal(torch::autograd::grad({first.sum()}, {weight})[0], with_seed(at::ones({30, 5}), 0.5, 9)));
  test::expect_gradients([](const auto& in) { return (with_seed(in[0], 0.5, 9) * in[1]).sum(); },
                         {at::randn({4, 5}), at::randn({4, 5})});
}

TEST(Dropout, NamesWhatItRefuses) {
  using test::expect_refused;
  expect_refused([] { ops::dropout(at::ones({2}), 1.5, true); }, "dropout: p must be in [0, 1], got 1.5");
  expect_refused([] { ops::dropout(at::ones({2}), std::nan(""), false); }, "dropout: p must be in [0, 1], got nan");
  expect_refused([] { ops::dropout(at::ones({2}, at::kLong), 0.5, true); }, "dropout: x must be floating, got Long");
}

}  // namespace
}  // namespace cachet
