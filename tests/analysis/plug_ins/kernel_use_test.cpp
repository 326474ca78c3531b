#include "cachet/analysis/plug_ins/kernel_use.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "cachet/nn/attention/functions/kernel_attention.h"
#include "cachet/nn/attention/functions/softmax_attention.h"

namespace cachet::analysis {
namespace {

TEST(KernelUse, EntropyByHand) {
  // Three queries over four keys: one key alone, all alike, two alike; the last sees one key, the one before is
  // padding.
  const at::Tensor weights =
      at::tensor({1.0, 0.0, 0.0, 0.0, 0.25, 0.25, 0.25, 0.25, 0.5, 0.5, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0}, at::kDouble)
          .view({1, 1, 4, 4});
  const at::Tensor visible = at::tensor({4, 4, 4, 1}, at::kLong).view({1, 1, 4});
  const EntropySum all = entropy_of(weights, visible, visible.gt(0));
  EXPECT_EQ(all.queries, 3);
  EXPECT_NEAR(all.entropy, 0 + 1 + 0.5, 1e-12);
  const at::Tensor tokens = at::tensor({1, 0, 1, 1}, at::kLong).ne(0).view({1, 1, 4});
  EXPECT_NEAR(entropy_of(weights, visible, tokens).entropy, 0.5, 1e-12);
}

TEST(KernelUse, OrthogonalityByHand) {
  EXPECT_NEAR(orthogonality_residual(at::eye(4).unsqueeze(0)), 0, 1e-12);
  // 2I: ‖3I‖ ÷ √n = 3; the mean with an orthogonal head.
  EXPECT_NEAR(orthogonality_residual(at::cat({2 * at::eye(4).unsqueeze(0), at::eye(4).unsqueeze(0)})), 1.5, 1e-6);
}

class OneFunction : public torch::nn::Module {
 public:
  template <class Function>
  explicit OneFunction(std::shared_ptr<Function> made) : function(register_module("function", made)) {}
  std::shared_ptr<nn::AttentionFunction> function;
};

TEST(KernelUse, EqualKeysAreAttendedEvenlyByBoth) {
  nn::KernelOptions options;
  options.form = nn::KernelForm::orthogonal_linear;
  const auto made = std::make_shared<OneFunction>(std::make_shared<nn::KernelAttention>(options, 2, 3));
  OneFunction& model = *made;
  KernelUse use(model, 0);
  const at::NoGradGuard no_grad;
  {
    const nn::Observation observation(model, use.listener());
    const at::Tensor k = at::ones({2, 2, 5, 3});
    model.function->forward(at::randn({2, 2, 5, 3}), k, k, nn::AttentionArgs::self({}));
  }
  const ByLayer<KernelUse::Layer> layers = use.layers();
  ASSERT_EQ(layers.size(), 1u);
  const KernelUse::Layer& layer = layers.begin()->second;
  EXPECT_TRUE(layer.kernel);
  EXPECT_NEAR(layer.entropy, 1, 1e-5);
  EXPECT_NEAR(layer.softmax_entropy, 1, 1e-5);
  EXPECT_NEAR(layer.distance, 0, 1e-5);
  EXPECT_EQ(layer.dead, 0);
  double all = 0;
  for (const double share : layer.features) all += share;
  EXPECT_NEAR(all, 1, 1e-12);
  ASSERT_FALSE(layer.orthogonality.empty());
  EXPECT_LT(layer.orthogonality.back(), 1e-5);
  EXPECT_EQ(layer.weights.sizes(), (std::vector<int64_t>{5, 5}));
}

TEST(KernelUse, AFeatureThatIsNeverSetIsDead) {
  nn::KernelOptions options;
  options.form = nn::KernelForm::linear;
  options.layers = 1;
  const auto made = std::make_shared<OneFunction>(std::make_shared<nn::KernelAttention>(options, 1, 2));
  OneFunction& model = *made;
  const at::NoGradGuard no_grad;
  // softplus(x·W): the second column is far below zero for the positive x that it sees.
  model.named_parameters()["function.features.0.weight"].copy_(at::tensor({1.0, -20.0, 1.0, -20.0}).view({1, 2, 2}));
  KernelUse use(model, 0);
  {
    const nn::Observation observation(model, use.listener());
    const at::Tensor x = 1 + at::rand({1, 1, 4, 2});
    model.function->forward(x, x, x, nn::AttentionArgs::self({}));
  }
  const ByLayer<KernelUse::Layer> layers = use.layers();
  EXPECT_EQ(layers.begin()->second.dead, 0.5);
}

// The weights that KernelUse looks at are those of the attention itself, hidden keys included.
TEST(KernelUse, ImpliedWeightsGiveWhatTheKernelGives) {
  const auto made = std::make_shared<OneFunction>(std::make_shared<nn::KernelAttention>(nn::KernelOptions{}, 2, 4));
  OneFunction& model = *made;
  const auto& kernel = dynamic_cast<const nn::KernelAttention&>(*model.function);
  const at::NoGradGuard no_grad;
  const at::Tensor q = at::randn({2, 2, 5, 4}), k = at::randn({2, 2, 5, 4}), v = at::randn({2, 2, 5, 4});
  at::Tensor padding = at::ones({2, 5}, at::kBool).logical_not();
  padding[1].slice(0, 3).fill_(true);
  at::Tensor bias;
  const nn::Observation observation(model, [&](const std::string&, nn::Signal signal, const at::Tensor& value) {
    if (signal == nn::Signal::attention_bias) bias = value;
  });
  nn::AttentionArgs args = nn::AttentionArgs::self({std::nullopt, 0, padding});
  for (const bool causal : {false, true}) {
    args.causal = causal;
    const at::Tensor y = model.function->forward(q, k, v, args);
    const at::Tensor composed =
        kernel.weights_of_features(kernel.features(q), kernel.features(k), bias.isneginf()).matmul(v);
    EXPECT_LT((y - composed).abs().max().item<double>(), 1e-5) << causal;
  }
}

TEST(KernelUse, SoftmaxLayersHaveTheirEntropyAlone) {
  const auto made = std::make_shared<OneFunction>(std::make_shared<nn::SoftmaxAttention>(nn::SoftmaxOptions{}));
  OneFunction& model = *made;
  EXPECT_TRUE(has_dense_attention(model));
  KernelUse use(model, 0);
  const at::NoGradGuard no_grad;
  {
    const nn::Observation observation(model, use.listener());
    // One key draws all, but for what is hidden from it: the first token of a causal layer sees one key alone.
    at::Tensor k = at::full({1, 1, 3, 1}, 0.0);
    k[0][0][0] = 100.0;
    nn::AttentionArgs args = nn::AttentionArgs::self({});
    args.causal = true;
    model.function->forward(at::ones({1, 1, 3, 1}), k, k, args);
  }
  const ByLayer<KernelUse::Layer> layers = use.layers();
  const KernelUse::Layer& layer = layers.begin()->second;
  EXPECT_FALSE(layer.kernel);
  EXPECT_NEAR(layer.entropy, 0, 1e-6);
  EXPECT_TRUE(std::isnan(layer.distance));
}

KernelUse::Layer kernel_layer(OneFunction& model, uint64_t seed, const std::vector<nn::AttentionArgs>& layouts,
                              const std::vector<std::vector<at::Tensor>>& calls) {
  KernelUse use(model, seed);
  const nn::Observation observation(model, use.listener());
  const at::NoGradGuard no_grad;
  for (size_t i = 0; i < calls.size(); ++i) model.function->forward(calls[i][0], calls[i][1], calls[i][1], layouts[i]);
  return use.layers().begin()->second;
}

/// x (B, H, L, d) with rubbish up to `length`, and which tokens that is (B, length).
std::pair<at::Tensor, at::Tensor> padded(const std::vector<at::Tensor>& samples, int64_t length) {
  std::vector<at::Tensor> rows, padding;
  for (const at::Tensor& x : samples) {
    const int64_t rest = length - x.size(2);
    rows.push_back(at::cat({x, at::full({1, x.size(1), rest, x.size(3)}, 30.0)}, 2));
    padding.push_back(at::arange(length).ge(x.size(2)).unsqueeze(0));
  }
  return {at::cat(rows), at::cat(padding)};
}

// Three short texts and a long one. All of their queries are looked at.
TEST(KernelUse, PaddingDoesNotCount) {
  constexpr int64_t kLongest = 150;
  const auto made = std::make_shared<OneFunction>(std::make_shared<nn::KernelAttention>(nn::KernelOptions{}, 2, 4));
  for (const bool causal : {false, true}) {
    std::vector<at::Tensor> texts, keys;
    std::vector<std::vector<at::Tensor>> alone;
    std::vector<nn::AttentionArgs> layouts;
    for (const int64_t length : std::initializer_list<int64_t>{20, 24, 22, kLongest}) {
      texts.push_back(at::randn({1, 2, length, 4}));
      keys.push_back(at::randn({1, 2, length, 4}));
      alone.push_back({texts.back(), keys.back()});
      layouts.push_back(nn::AttentionArgs::self({}));
      layouts.back().causal = causal;
    }
    const auto [queries, padding] = padded(texts, kLongest);
    nn::AttentionArgs args = nn::AttentionArgs::self({std::nullopt, 0, padding});
    args.causal = causal;
    const KernelUse::Layer one_by_one = kernel_layer(*made, 0, layouts, alone),
                           together = kernel_layer(*made, 0, {args}, {{queries, padded(keys, kLongest).first}});
    EXPECT_NEAR(together.entropy, one_by_one.entropy, 1e-5) << causal;
    EXPECT_NEAR(together.softmax_entropy, one_by_one.softmax_entropy, 1e-5);
    EXPECT_NEAR(together.distance, one_by_one.distance, 1e-5);
    EXPECT_EQ(together.dead, one_by_one.dead);
    for (size_t bin = 0; bin < together.features.size(); ++bin)
      EXPECT_NEAR(together.features[bin], one_by_one.features[bin], 1e-12) << bin;
  }
}

// So long that queries would be drawn, if padding counted for the number of scores.
TEST(KernelUse, PaddingOfAllSamplesDrawsNoQueries) {
  constexpr int64_t kPadded = 900;
  const auto made = std::make_shared<OneFunction>(std::make_shared<nn::KernelAttention>(nn::KernelOptions{}, 2, 4));
  const std::vector<at::Tensor> queries{at::randn({1, 2, 4, 4}), at::randn({1, 2, 7, 4})},
      keys{at::randn({1, 2, 4, 4}), at::randn({1, 2, 7, 4})};
  const auto layer = [&](int64_t length) {
    const auto [padded_queries, padding] = padded(queries, length);
    return kernel_layer(*made, 0, {nn::AttentionArgs::self({std::nullopt, 0, padding})},
                        {{padded_queries, padded(keys, length).first}});
  };
  const KernelUse::Layer near = layer(7), far = layer(kPadded);
  EXPECT_EQ(far.entropy, near.entropy);
  EXPECT_EQ(far.softmax_entropy, near.softmax_entropy);
  EXPECT_EQ(far.distance, near.distance);
  EXPECT_EQ(far.features, near.features);
  EXPECT_TRUE(far.weights.equal(near.weights));
}

// Queries of a decoder are padded where the keys of the encoder are not.
TEST(KernelUse, PaddedQueriesDoNotCountOverOtherKeys) {
  const auto made = std::make_shared<OneFunction>(std::make_shared<nn::SoftmaxAttention>(nn::SoftmaxOptions{}));
  const at::Tensor context = at::randn({1, 1, 6, 4}), query = at::randn({1, 1, 2, 4});
  const auto [queries, padding] = padded({query}, 6);
  const KernelUse::Layer alone = kernel_layer(*made, 0, {{}}, {{query, context}}),
                         together = kernel_layer(*made, 0, {{{std::nullopt, 0, padding}, {}}}, {{queries, context}});
  EXPECT_NEAR(together.entropy, alone.entropy, 1e-6);
  EXPECT_EQ(together.weights.sizes(), (std::vector<int64_t>{2, 6}));
  EXPECT_TRUE(together.weights.allclose(alone.weights));
}

// Samples with equal keys, and samples in which the first key draws all, as short and long texts differ.
TEST(KernelUse, AllSamplesCountAndTheShownOneIsDrawn) {
  const auto made = std::make_shared<OneFunction>(std::make_shared<nn::SoftmaxAttention>(nn::SoftmaxOptions{}));
  const int64_t length = 300;  // too long for all queries to be looked at
  at::Tensor keys = at::zeros({8, 1, length, 1});
  keys.slice(0, 2).select(2, 0).fill_(200.0);
  const at::Tensor queries = at::ones({8, 1, length, 1});
  std::set<bool> even;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const std::vector<nn::AttentionArgs> layouts{nn::AttentionArgs::self({})};
    const KernelUse::Layer layer = kernel_layer(*made, seed, layouts, {{queries, keys}});
    EXPECT_NEAR(layer.entropy, 0.25, 1e-5);
    EXPECT_EQ(layer.weights.sizes(), (std::vector<int64_t>{kShownTokens, kShownTokens}));
    even.insert(layer.weights[0][0].item<double>() < 0.05);
    EXPECT_TRUE(kernel_layer(*made, seed, layouts, {{queries, keys}}).weights.equal(layer.weights)) << seed;
  }
  EXPECT_EQ(even.size(), 2U) << "the shown sample is always of the same kind";
}

// The class token is one of many queries, however few are drawn.
TEST(KernelUse, DrawnQueriesStandForAll) {
  const auto made = std::make_shared<OneFunction>(std::make_shared<nn::SoftmaxAttention>(nn::SoftmaxOptions{}));
  const int64_t length = 1024;
  at::Tensor queries = at::zeros({1, 1, length, 1}), keys = at::zeros({1, 1, length, 1});
  queries.slice(2, 0, length / 2).fill_(1.0);
  keys.select(2, 0).fill_(200.0);  // draws all of the first half of the queries, and the others see all alike
  double sum = 0;
  constexpr int kSeeds = 20;
  for (uint64_t seed = 0; seed < kSeeds; ++seed)
    sum += kernel_layer(*made, seed, {nn::AttentionArgs::self({})}, {{queries, keys}}).entropy;
  // 128 of 1024 queries each time: the deviation of the mean is below 0.5 ÷ √(128 · 20) = 0.01.
  EXPECT_NEAR(sum / kSeeds, 0.5, 0.04);
}

}  // namespace
}  // namespace cachet::analysis
