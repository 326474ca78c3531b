#include "cachet/train/inference/inference_scope.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <utility>

#include "cachet/ops/linear/linear.h"
#include "cachet/ops/linear/product.h"
#include "cachet/ops/support/packable.h"

namespace cachet::train {
namespace {

/// A linear layer without a bias that can be packed.
class Layer : public torch::nn::Module, public ops::Packable {
 public:
  Layer(int64_t inputs, int64_t outputs) { weight = register_parameter("weight", at::randn({outputs, inputs})); }
  at::Tensor forward(const at::Tensor& x) const { return ops::linear(x, weight, std::nullopt); }
  at::Tensor pack() override { return std::exchange(weight, ops::packed_weight(weight)); }
  void unpack(const at::Tensor& unpacked) override { weight = unpacked; }

  at::Tensor weight;
};

/// Two layers, the second of which stays in evaluation mode while the model trains.
class TwoLayers : public torch::nn::Module {
 public:
  TwoLayers() {
    at::manual_seed(7);
    first = register_module("first", std::make_shared<Layer>(48, 64));
    second = register_module("second", std::make_shared<Layer>(64, 16));
    second->eval();
  }
  at::Tensor forward(const at::Tensor& x) const { return second->forward(first->forward(x)); }

  std::shared_ptr<Layer> first, second;
};

TEST(InferenceScope, AnswersInEvaluationModeWithoutGradients) {
  TwoLayers model;
  const at::Tensor x = at::randn({5, 48});
  {
    const InferenceScope inference(model);
    EXPECT_FALSE(model.is_training());
    EXPECT_FALSE(model.first->is_training());
    EXPECT_FALSE(model.forward(x).requires_grad());
  }
  EXPECT_TRUE(model.is_training());
  EXPECT_TRUE(model.first->is_training());
  EXPECT_FALSE(model.second->is_training());
  EXPECT_TRUE(model.forward(x).requires_grad());
}

TEST(InferenceScope, LeavesAModelInEvaluationThere) {
  TwoLayers model;
  model.eval();
  { const InferenceScope inference(model); }
  EXPECT_FALSE(model.is_training());
}

TEST(InferenceScope, ComputesInItsPrecision) {
  TwoLayers model;
  const at::Tensor x = at::randn({5, 48});
  const InferenceScope inference(model, {.precision = Precision::bfloat16, .packed = true});
  EXPECT_EQ(model.forward(x).scalar_type(), at::kBFloat16);
  EXPECT_FALSE(ops::is_packed(model.first->weight)) << "packed weights are float32";
}

TEST(InferenceScope, PacksWeightsUntilItsEnd) {
  TwoLayers model;
  const at::Tensor x = at::randn({33, 48}), weight = model.first->weight, expected = model.forward(x).detach();
  {
    const InferenceScope inference(model, {.packed = true});
    EXPECT_EQ(ops::is_packed(model.first->weight), ops::is_packed(ops::packed_weight(weight)));
    EXPECT_LE((model.forward(x) - expected).abs().max().item<double>(), 1e-6 * expected.abs().max().item<double>());
  }
  EXPECT_TRUE(model.first->weight.is_same(weight));
  model.forward(x).sum().backward();
  EXPECT_TRUE(weight.grad().defined()) << "whoever holds the weight still sees its gradient";
}

}  // namespace
}  // namespace cachet::train
