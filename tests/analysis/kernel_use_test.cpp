#include "cachet/analysis/kernel_use.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <cmath>

#include "cachet/nn/attention/kernel_attention.h"
#include "cachet/nn/attention/softmax_attention.h"

namespace cachet::analysis {
namespace {

TEST(KernelUse, EntropyByHand) {
  // Three queries over four keys: one key alone, all alike, two alike; the last sees one key, the one before is no
  // token.
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
  EXPECT_TRUE(has_kernel_attention(model));
  KernelUse use(model);
  const at::NoGradGuard no_grad;
  {
    const nn::Observation observation(model, use.listener());
    const at::Tensor k = at::ones({2, 2, 5, 3});
    model.function->forward(at::randn({2, 2, 5, 3}), k, k, nn::AttentionLayout::self({}));
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
  KernelUse use(model);
  {
    const nn::Observation observation(model, use.listener());
    const at::Tensor x = 1 + at::rand({1, 1, 4, 2});
    model.function->forward(x, x, x, nn::AttentionLayout::self({}));
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
  nn::AttentionLayout layout = nn::AttentionLayout::self({std::nullopt, 0, padding});
  for (const bool causal : {false, true}) {
    layout.causal = causal;
    const at::Tensor y = model.function->forward(q, k, v, layout);
    const at::Tensor composed =
        kernel.weights_of_features(kernel.features(q), kernel.features(k), bias.isneginf()).matmul(v);
    EXPECT_LT((y - composed).abs().max().item<double>(), 1e-5) << causal;
  }
}

TEST(KernelUse, SoftmaxLayersHaveTheirEntropyAlone) {
  const auto made = std::make_shared<OneFunction>(std::make_shared<nn::SoftmaxAttention>(nn::SoftmaxOptions{}));
  OneFunction& model = *made;
  EXPECT_TRUE(has_dense_attention(model));
  EXPECT_FALSE(has_kernel_attention(model));
  KernelUse use(model);
  const at::NoGradGuard no_grad;
  {
    const nn::Observation observation(model, use.listener());
    // One key draws all, but for what is hidden from it: the first token of a causal layer sees one key alone.
    at::Tensor k = at::full({1, 1, 3, 1}, 0.0);
    k[0][0][0] = 100.0;
    nn::AttentionLayout layout = nn::AttentionLayout::self({});
    layout.causal = true;
    model.function->forward(at::ones({1, 1, 3, 1}), k, k, layout);
  }
  const ByLayer<KernelUse::Layer> layers = use.layers();
  const KernelUse::Layer& layer = layers.begin()->second;
  EXPECT_FALSE(layer.kernel);
  EXPECT_NEAR(layer.entropy, 0, 1e-6);
  EXPECT_TRUE(std::isnan(layer.distance));
}

}  // namespace
}  // namespace cachet::analysis
