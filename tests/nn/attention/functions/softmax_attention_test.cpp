#include "cachet/nn/attention/functions/softmax_attention.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "tests/support/fused_against_composite.h"

namespace cachet {
namespace {

// softmax(q kᵀ/√d + bias) v with every rule of visibility written out.
at::Tensor dense_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                           const nn::AttentionArgs& args) {
  const int64_t lq = q.size(2), lk = k.size(2);
  at::Tensor scores = at::matmul(q, k.transpose(2, 3)) / std::sqrt(static_cast<double>(q.size(3)));
  if (args.bias.defined()) scores = scores + args.bias;
  at::Tensor hidden = at::zeros({q.size(0), 1, lq, lk}, at::kBool);
  if (args.context.padding.defined()) hidden = hidden.logical_or(args.context.padding.view({-1, 1, 1, lk}));
  if (args.causal)
    for (int64_t i = 0; i < lq; ++i)
      for (int64_t j = std::max<int64_t>(0, i + lk - lq + 1); j < lk; ++j) hidden.select(2, i).select(2, j).fill_(true);
  const at::Tensor weights = scores.masked_fill(hidden, -std::numeric_limits<double>::infinity()).softmax(-1);
  return at::matmul(weights.nan_to_num(0.0), v);
}

TEST(SoftmaxAttention, EqualsTheDenseFormForEveryLayout) {
  nn::SoftmaxAttention attention(nn::SoftmaxOptions{});
  attention.eval();
  for (const auto& [lq, lk] : {std::pair{5, 5}, {3, 7}, {1, 6}, {6, 2}})
    for (const bool causal : {false, true})
      for (const bool padded : {false, true})
        for (const bool biased : {false, true}) {
          const auto d = at::kDouble;
          const at::Tensor q = at::randn({2, 3, lq, 4}, d), k = at::randn({2, 3, lk, 4}, d),
                           v = at::randn({2, 3, lk, 6}, d);
          nn::AttentionArgs args;
          args.causal = causal;
          if (padded) {
            args.context.padding = at::zeros({2, lk}, at::kBool);
            args.context.padding[0][lk - 1].fill_(true);
            args.context.padding[1].fill_(true);  // a sample without any key
          }
          if (biased) args.bias = at::randn({1, 3, lq, lk}, d);
          const at::Tensor out = attention.forward(q, k, v, args);
          EXPECT_TRUE(at::allclose(out, dense_attention(q, k, v, args), 1e-10, 1e-12))
              << lq << 'x' << lk << " causal " << causal << " padded " << padded << " biased " << biased;
        }
}

// Around the borders of blocks, where queries and keys end apart, of wide and narrow heads, and too long for blocks.
TEST(SoftmaxAttention, FastWaysEqualTheComposedOneForEveryLayout) {
  struct Case {
    int64_t queries, keys, width, shared = 2;
  };
  for (const Case& c : {Case{5, 5, 12},
                        {64, 64, 16},
                        {65, 63, 8},
                        {130, 70, 20},
                        {40, 150, 12},
                        {200, 16, 8, 1},
                        {2, 40, 8},
                        {1030, 1030, 4}})
    for (const bool causal : {false, true})
      for (const bool padded : {false, true}) {
        if (c.shared == 1 && padded) continue;
        at::manual_seed(3);
        nn::AttentionArgs args;
        args.causal = causal;
        if (padded) {
          args.context.padding = at::rand({2, c.keys}).lt(0.3);
          args.context.padding[1].fill_(true);  // a sample without any key
        }
        test::expect_fused_equals_composite(
            [&](const test::Tensors& x) { return test::Tensors{nn::softmax_attention(x[0], x[1], x[2], args)}; },
            {at::randn({2, c.queries, 3, c.width}).transpose(1, 2), at::randn({c.shared, 3, c.keys, c.width}),
             at::randn({c.shared, 3, c.keys, c.width})},
            std::to_string(c.queries) + " of " + std::to_string(c.keys) + (causal ? ", causal" : "") +
                (padded ? ", padded" : ""));
      }
}

TEST(SoftmaxAttention, NarrowOnesEqualTheDenseFormInFloat32) {
  nn::SoftmaxAttention attention(nn::SoftmaxOptions{});
  attention.eval();
  for (const int64_t length : {7, 520}) {  // composed where that is faster, fused beyond
    const at::Tensor q = at::randn({2, 3, length, 16}).to(at::kBFloat16),
                     k = at::randn({2, 3, length, 16}).to(at::kBFloat16);
    const at::Tensor out = attention.forward(q, k, k, {});
    EXPECT_EQ(out.scalar_type(), at::kBFloat16);
    const auto wide = [](const at::Tensor& t) { return t.to(at::kFloat); };
    // Scores, weights and result are rounded to eight bits.
    EXPECT_TRUE(at::allclose(wide(out), dense_attention(wide(q), wide(k), wide(k), {}), 3e-2, 3e-2)) << length;
  }
}

TEST(SoftmaxAttention, WithoutAGradientManyWindowsAreTakenInPartsOfWholeImages) {
  nn::SoftmaxAttention attention({});
  attention.eval();
  nn::AttentionArgs args;
  args.bias = at::randn({4, 3, 49, 49});  // windows of an image
  const at::Tensor heads = at::randn({100, 49, 3, 3, 8}).permute({2, 0, 3, 1, 4});
  const at::Tensor q = heads[0], k = heads[1], v = heads[2];
  const at::Tensor whole = attention.forward(q.detach().requires_grad_(), k, v, args);
  const at::NoGradGuard no_grad;
  const at::Tensor parts = attention.forward(q, k, v, args);
  EXPECT_TRUE(at::allclose(parts, whole, 1e-5, 1e-6));
  EXPECT_TRUE(parts.transpose(1, 2).is_contiguous());  // as heads are joined
  nn::AttentionArgs repeated;
  repeated.bias = args.bias.repeat({25, 1, 1, 1});
  EXPECT_TRUE(at::allclose(parts, dense_attention(q, k, v, repeated), 1e-5, 1e-6));
}

TEST(SoftmaxAttention, GradientsStayFiniteWhereNoKeyIsVisible) {
  nn::SoftmaxAttention attention(nn::SoftmaxOptions{});
  const at::Tensor q = at::randn({2, 1, 3, 4}).requires_grad_(), k = at::randn({2, 1, 3, 4}).requires_grad_();
  nn::AttentionArgs args;
  args.context.padding = at::tensor({1, 1, 1, 0, 0, 1}).view({2, 3}).to(at::kBool);
  attention.forward(q, k, k, args).sum().backward();
  EXPECT_TRUE(q.grad().isfinite().all().item<bool>());
  EXPECT_TRUE(k.grad().isfinite().all().item<bool>());
}

TEST(SoftmaxAttention, DropsWeightsInTrainingOnly) {
  nn::SoftmaxAttention attention(nn::SoftmaxOptions{0.5});
  const at::Tensor q = at::randn({1, 1, 8, 4}), v = at::ones({1, 1, 8, 4});
  EXPECT_FALSE(at::allclose(attention.forward(q, q, v, {}), v));
  attention.eval();
  EXPECT_TRUE(at::allclose(attention.forward(q, q, v, {}), v, 1e-5, 1e-5));
}

TEST(SoftmaxAttention, TakesABiasOfFewerDimensionsInEveryType) {
  nn::SoftmaxAttention attention({});
  const at::Tensor q = at::randn({2, 3, 4, 8}), k = at::randn({2, 3, 5, 8}), v = at::randn({2, 3, 5, 8});
  const at::Tensor whole = at::randn({2, 3, 4, 5});
  for (const at::Tensor& bias : {whole, whole[0], whole[0][0]}) {
    nn::AttentionArgs args;
    args.bias = bias;
    const at::Tensor expected =
        at::matmul(at::softmax(at::matmul(q, k.transpose(2, 3)) / std::sqrt(8.0) + bias, -1), v);
    EXPECT_TRUE(at::allclose(attention.forward(q, k, v, args), expected, 1e-4, 1e-5)) << bias.sizes();
    const auto wide = [](const at::Tensor& x) { return x.to(at::kDouble); };
    args.bias = wide(bias);
    EXPECT_TRUE(at::allclose(attention.forward(wide(q), wide(k), wide(v), args), wide(expected), 1e-4, 1e-5));
  }
}

}  // namespace
}  // namespace cachet
