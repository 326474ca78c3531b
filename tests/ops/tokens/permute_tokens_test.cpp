#include "cachet/ops/tokens/permute_tokens.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/support/fused_against_composite.h"
#include "tests/support/gradient_check.h"
#include "tests/support/refused.h"

namespace cachet {
namespace {

using test::expect_refused;

at::Tensor tokens_numbers(const std::vector<int64_t>& numbers) { return at::tensor(numbers, at::kLong); }

// Five positions for four tokens: one left out, two empty.
const std::vector<int64_t> kPlaces{2, -1, 0, -1, 3}, kTokens{2, -1, 0, 4};

TEST(PermuteTokens, PutsEveryTokenInItsPlaceWhateverTheTypeAndTheStrides) {
  const at::Tensor index = tokens_numbers(kPlaces), inverse = tokens_numbers(kTokens);
  for (const auto dtype : {at::kFloat, at::kBFloat16, at::kDouble, at::kLong})
    for (const bool strided : {false, true})
      for (int64_t channels = 0; channels <= 5; ++channels) {
        at::Tensor x = at::randint(100, {3, 4, channels}).to(dtype);
        if (strided) x = x.transpose(0, 2).contiguous().transpose(0, 2);
        const at::Tensor y = ops::permute_tokens(x, index, inverse);
        ASSERT_EQ(y.sizes(), at::IntArrayRef({3, 5, channels}));
        for (int64_t i = 0; i < 5; ++i) {
          const at::Tensor expected = kPlaces[i] < 0 ? at::zeros({3, channels}, dtype) : x.select(1, kPlaces[i]);
          ASSERT_TRUE(at::equal(y.select(1, i), expected)) << dtype << ", place " << i;
        }
      }
}

TEST(PermuteTokens, FusedEqualsComposite) {
  const at::Tensor index = tokens_numbers(kPlaces), inverse = tokens_numbers(kTokens);
  test::expect_fused_equals_composite(
      [&](const test::Tensors& in) { return test::Tensors{ops::permute_tokens(in[0], index, inverse)}; },
      {at::randn({7, 4, 33})}, "permute_tokens", 0, 0);
}

TEST(PermuteTokens, GradientEqualsFiniteDifferencesTwice) {
  const at::Tensor index = tokens_numbers(kPlaces), inverse = tokens_numbers(kTokens);
  const auto cubes = [&](const auto& in) { return ops::permute_tokens(in[0], index, inverse).pow(3).sum(); };
  test::expect_gradients(cubes, {at::randn({2, 4, 2})});
  test::expect_gradients(
      [&](const auto& in) {
        // Finite differences are taken without a graph, and the first derivative needs one.
        const at::AutoGradMode with_graph(true);
        const at::Tensor x = in[0].requires_grad() ? in[0] : in[0].detach().requires_grad_();
        const test::Tensors outputs{cubes(test::Tensors{x})};
        return torch::autograd::grad(outputs, {x}, {}, /*retain_graph=*/true, /*create_graph=*/true)[0].pow(2).sum();
      },
      {at::randn({2, 4, 2})});
}

TEST(PermuteTokens, ServesEmptyBatchesAndTheMetaDevice) {
  const at::Tensor index = tokens_numbers(kPlaces), inverse = tokens_numbers(kTokens), none = tokens_numbers({});
  EXPECT_EQ(ops::permute_tokens(at::randn({0, 4, 3}), index, inverse).sizes(), at::IntArrayRef({0, 5, 3}));
  EXPECT_EQ(ops::permute_tokens(at::randn({2, 4, 3}), none, tokens_numbers({-1, -1, -1, -1})).numel(), 0);
  EXPECT_TRUE(at::equal(ops::permute_tokens(at::randn({2, 0, 3}), tokens_numbers({-1}), none), at::zeros({2, 1, 3})));
  const at::Tensor x = at::empty({2, 4, 3}, at::kMeta);
  EXPECT_EQ(ops::permute_tokens(x, index.to(at::kMeta), inverse.to(at::kMeta)).sizes(), at::IntArrayRef({2, 5, 3}));
}

TEST(PermuteTokens, NamesWhatItRefuses) {
  const at::Tensor x = at::randn({2, 4, 3}), index = tokens_numbers(kPlaces), inverse = tokens_numbers(kTokens);
  expect_refused([&] { ops::permute_tokens(x[0], index, inverse); }, "permute_tokens: x must be (B, N, C)");
  expect_refused([&] { ops::permute_tokens(x, index.to(at::kInt), inverse); }, "index must be int64 (M), got Int");
  expect_refused([&] { ops::permute_tokens(x, index, index); }, "inverse must be int64 (N) = (4)");
  expect_refused(
      [&] {
        ops::permute_tokens(x, tokens_numbers({0, 4}), inverse);
      },
      "index[1] must be -1 or a token from 0 to 3, got 4");
  expect_refused([&] { ops::permute_tokens(x, tokens_numbers({-2}), inverse); },
                 "index[0] must be -1 or a token from 0 to 3, got -2");
  expect_refused([&] { ops::permute_tokens(x, index.to(at::kMeta), inverse); }, "index is on meta");
}

}  // namespace
}  // namespace cachet
