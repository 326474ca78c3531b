#include "cachet/ops/attention/kernel_attention.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/autocast.h"
#include "tests/support/fused_against_composite.h"
#include "tests/support/refused.h"

namespace cachet {
namespace {

using ops::FeatureUnit;

// The reference values themselves are held by the fixtures, in
// tests/nn/attention/functions/kernel_attention_oracle_test.cpp.

ops::FeatureMap random_map(const std::vector<FeatureUnit>& units, int64_t heads, int64_t width,
                           at::TensorOptions options = {}) {
  ops::FeatureMap map;
  map.units = units;
  for (const FeatureUnit unit : units)
    if (unit != FeatureUnit::elu_plus_one)
      map.weights.push_back(at::randn({heads, width, ops::is_gated(unit) ? 2 * width : width}, options) *
                            (2 / std::sqrt(static_cast<double>(width))));
  return map;
}

TEST(KernelFeatures, EveryUnitIsItsFormula) {
  const at::Tensor x = at::randn({2, 3, 5, 4}, at::kDouble);
  const auto sigmoid = [](const at::Tensor& t) { return 1 / (1 + (-t).exp()); };
  const auto softplus = [](const at::Tensor& t) { return (t.exp() + 1).log(); };
  for (const FeatureUnit unit : {FeatureUnit::elu_plus_one, FeatureUnit::softplus, FeatureUnit::gelu,
                                 FeatureUnit::sigmoid, FeatureUnit::glu, FeatureUnit::softplus_glu}) {
    const auto map = random_map({unit}, 3, 4, at::kDouble);
    const at::Tensor product = map.weights.empty() ? x : at::matmul(x, map.weights[0]);
    const at::Tensor a = product.slice(3, 0, 4), g = product.slice(3, 4);
    const at::Tensor expected = unit == FeatureUnit::elu_plus_one ? at::where(a > 0, a + 1, a.exp())
                                : unit == FeatureUnit::softplus   ? softplus(a)
                                : unit == FeatureUnit::gelu       ? a * 0.5 * (1 + (a / std::sqrt(2.0)).erf())
                                : unit == FeatureUnit::sigmoid    ? sigmoid(a)
                                : unit == FeatureUnit::glu        ? a * sigmoid(g)
                                                                  : softplus(a) * sigmoid(g);
    EXPECT_TRUE(at::allclose(ops::kernel_features(x, map), expected, 1e-12, 1e-12)) << static_cast<int>(unit);
  }
}

TEST(KernelAttentionOperator, SumsOfNarrowInputsAreWide) {
  // 4,096 keys of equal weight: a bfloat16 sum would stop growing at 256.
  const at::Tensor q = at::zeros({1, 1, 2, 4}, at::kBFloat16), k = at::zeros({1, 1, 4096, 4}, at::kBFloat16),
                   v = at::ones({1, 1, 4096, 4}, at::kBFloat16);
  for (const bool causal : {false, true}) {
    const at::Tensor y = ops::kernel_attention(q, k, v, {{}, {FeatureUnit::elu_plus_one}}, {}, causal);
    EXPECT_EQ(y.scalar_type(), at::kBFloat16);
    EXPECT_TRUE(at::allclose(y.to(at::kFloat), at::ones({1, 1, 2, 4}), 1e-2, 1e-2));
  }
}

TEST(KernelAttentionOperator, AStreamUnderAutocastIsThatOfNarrowOperandsAndWideSums) {
  const auto narrow = [](const at::Tensor& x) { return x.to(at::kBFloat16); };
  const auto map = random_map({FeatureUnit::glu, FeatureUnit::softplus_glu}, 2, 4);
  ops::FeatureMap narrow_map = map;
  for (at::Tensor& weight : narrow_map.weights) weight = narrow(weight);
  at::Tensor sums, expected_sums;
  for (int piece = 0; piece < 2; ++piece) {
    const at::Tensor x = at::rand({1, 2, 512, 4}), n = narrow(x);
    const at::Tensor expected = ops::kernel_attention_stream(n, n, n, narrow_map, {}, true, 0, expected_sums);
    const test::BFloat16Autocast autocast;
    EXPECT_TRUE(at::equal(ops::kernel_attention_stream(x, x, x, map, {}, true, 0, sums), expected)) << piece;
    EXPECT_EQ(sums.scalar_type(), at::kFloat);
    EXPECT_TRUE(at::equal(sums, expected_sums)) << piece;
  }
}

TEST(KernelAttentionOperator, TakesEmptySequences) {
  const auto map = random_map({FeatureUnit::softplus}, 2, 4);
  const at::Tensor none = at::randn({1, 2, 0, 4}), some = at::randn({1, 2, 3, 4});
  for (const bool causal : {false, true}) {
    EXPECT_EQ(ops::kernel_attention(none, some, some, map, {}, causal).sizes(), at::IntArrayRef({1, 2, 0, 4}));
    EXPECT_TRUE(at::equal(ops::kernel_attention(some, none, none, map, {}, causal), at::zeros({1, 2, 3, 4})));
  }
}

TEST(KernelAttentionOperator, ReadsStridedHeads) {
  const auto map = random_map({FeatureUnit::glu, FeatureUnit::softplus_glu}, 2, 4);
  const at::Tensor qkv = at::randn({3, 7, 3, 2, 4});
  const auto parts = qkv.permute({2, 0, 3, 1, 4}).unbind(0);
  const auto dense = [](const at::Tensor& t) { return t.contiguous(); };
  for (const bool causal : {false, true})
    EXPECT_TRUE(at::allclose(ops::kernel_attention(parts[0], parts[1], parts[2], map, {}, causal),
                             ops::kernel_attention(dense(parts[0]), dense(parts[1]), dense(parts[2]), map, {}, causal),
                             1e-5, 1e-6));
}

struct KernelCase {
  std::string name;
  std::vector<FeatureUnit> units;
};

const std::vector<KernelCase>& kernel_cases() {
  using U = FeatureUnit;
  static const std::vector<KernelCase> cases{{"features", {}},
                                             {"elu", {U::elu_plus_one}},
                                             {"linear", {U::softplus}},
                                             {"glu", {U::softplus_glu}},
                                             {"glu 3", {U::glu, U::glu, U::softplus_glu}},
                                             {"stack", {U::gelu, U::sigmoid, U::softplus}}};
  return cases;
}

TEST(KernelAttentionOperator, FusedEqualsComposite) {
  using test::Tensors;
  struct Shape {
    int64_t queries, keys, width, value_width;
  };
  const int64_t heads = 2;
  for (const auto& [name, units] : kernel_cases())
    for (const bool causal : {false, true})
      for (const bool masked : {false, true})
        for (const int64_t weight_heads : {heads, int64_t{1}})
          // Around the rows that meet one by one, and around a block of them; widths of all models.
          for (const auto& [lq, lk, width, value_width] :
               {Shape{1, 1, 16, 8}, Shape{63, 63, 16, 8}, Shape{65, 65, 41, 41}, Shape{300, 300, 16, 8},
                Shape{70, 40, 64, 64}}) {
            if (causal && lq != lk) continue;
            const auto map = random_map(units, weight_heads, width);
            // Heads as a fused projection leaves them; features of no map must be positive.
            const auto operand = [&](int64_t length, int64_t columns) {
              const at::Tensor x = at::randn({2, length, 3, heads, columns}).select(2, 1).transpose(1, 2);
              return units.empty() ? x.abs() : x;
            };
            Tensors inputs{operand(lq, width), operand(lk, width), operand(lk, value_width)};
            inputs.insert(inputs.end(), map.weights.begin(), map.weights.end());
            at::Tensor padding = at::zeros({2, lk}, at::kBool);
            padding[0][lk - 1].fill_(masked);
            padding[1].slice(0, lk / 2).fill_(masked);
            test::expect_fused_equals_composite(
                [&](const Tensors& in) -> Tensors {
                  const ops::FeatureMap own{{in.begin() + 3, in.end()}, units};
                  return {ops::kernel_attention(in[0], in[1], in[2], own,
                                                masked ? std::optional(padding) : std::nullopt, causal, 1e-3)};
                },
                inputs, name + (causal ? ", causal " : ", ") + std::to_string(lq) + " x " + std::to_string(lk), 5e-5,
                0.1);
          }
}

TEST(KernelAttentionOperator, SamplesMayShareKeysThatAreNotAllValid) {
  const auto map = random_map({FeatureUnit::glu, FeatureUnit::softplus_glu}, 2, 16);
  test::Tensors inputs{at::randn({2, 2, 5, 16}), at::randn({1, 2, 7, 16}), at::randn({1, 2, 7, 8})};
  inputs.insert(inputs.end(), map.weights.begin(), map.weights.end());
  at::Tensor padding = at::zeros({2, 7}, at::kBool);
  padding[1].slice(0, 3).fill_(true);
  test::expect_fused_equals_composite(
      [&](const test::Tensors& in) -> test::Tensors {
        const ops::FeatureMap own{{in.begin() + 3, in.end()}, map.units};
        return {ops::kernel_attention(in[0], in[1], in[2], own, padding, /*causal=*/false, 1e-3)};
      },
      inputs, "shared keys", 5e-5, 0.1);
}

TEST(KernelAttentionOperator, FusedNeverReadsThePaddingNotEvenNaN) {
  const auto map = random_map({FeatureUnit::glu, FeatureUnit::softplus_glu}, 2, 4);
  const at::Tensor padding = at::tensor({0, 0, 1, 0, 1, 1}).view({2, 3}).to(at::kBool);
  const at::Tensor q = at::randn({2, 2, 3, 4}), k = at::randn({2, 2, 3, 4});
  for (const bool causal : {false, true}) {
    std::vector<at::Tensor> results[2];
    for (const bool noisy : {false, true}) {
      const at::Tensor keys =
          k.masked_fill(padding.view({2, 1, 3, 1}), noisy ? std::numeric_limits<double>::quiet_NaN() : 0.0);
      results[noisy] = test::outputs_and_gradients(
          [&](const test::Tensors& in) -> test::Tensors {
            return {ops::kernel_attention(q, in[0], in[0], {{in[1], in[2]}, map.units}, padding, causal, 1e-3)};
          },
          {keys, map.weights[0], map.weights[1]});
    }
    for (size_t i = 0; i < results[0].size(); ++i) EXPECT_TRUE(at::equal(results[0][i], results[1][i])) << i;
  }
}

TEST(KernelAttentionOperator, NamesWhatItRefuses) {
  const auto map = random_map({FeatureUnit::glu}, 2, 4);
  const at::Tensor q = at::randn({1, 2, 3, 4});
  const auto run = [&](const at::Tensor& k, const at::Tensor& v, const ops::FeatureMap& m,
                       const std::optional<at::Tensor>& padding = {}) {
    return [=] { ops::kernel_attention(q, k, v, m, padding); };
  };
  using test::expect_refused;
  expect_refused(run(q[0], q, map), "k must be (B or 1, H, Lk, n)");
  expect_refused(run(q, at::randn({1, 2, 4, 4}), map), "v must be (B, H, Lk, e) with the B, H, Lk of k");
  expect_refused(run(q.to(at::kDouble), q, map), "q is Float, k Double");
  expect_refused(run(q, q, {{}, {FeatureUnit::glu}}), "there are 1 such units, but the number of weights is 0");
  expect_refused(run(q, q, random_map({FeatureUnit::glu}, 3, 4)), "weight 0 must be (H, n_in, n_out) with H = 2 or 1");
  expect_refused(run(q, q, {{at::randn({2, 4, 3})}, {FeatureUnit::glu}}), "even number of columns");
  expect_refused(run(q, q, map, at::zeros({1, 2}, at::kBool)), "padding must be bool (B, Lk) = (1, 3)");
  expect_refused(run(q, q.to(at::kMeta), map), "v is on meta, but other operands are on cpu");
  at::Tensor sums = at::zeros({1, 2, 4, 4});
  expect_refused([&] { ops::kernel_attention_stream(q, q, q, map, {}, true, 0, sums); },
                 "sums must be (B, H, m, e + 1)");
}

}  // namespace
}  // namespace cachet
