#include "cachet/ops/support/packable.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include <memory>

namespace cachet::ops {
namespace {

/// A module of a program, which is not one of the library's layers.
class Doubled : public torch::nn::Module, public Packable {
 public:
  Doubled() { weight = register_parameter("weight", at::ones({2})); }
  at::Tensor pack() override { return std::exchange(weight, at::Tensor(weight.detach() * 2)); }
  void unpack(const at::Tensor& unpacked) override { weight = unpacked; }

  at::Tensor weight;
};

TEST(Packable, AModuleOfAProgramIsPackedWhereverItIsInAModel) {
  torch::nn::Module model;
  const auto inner = model.register_module("inner", std::make_shared<torch::nn::Module>());
  const auto outer_layer = model.register_module("layer", std::make_shared<Doubled>());
  const auto inner_layer = inner->register_module("layer", std::make_shared<Doubled>());
  const at::Tensor weight = inner_layer->weight;
  const PackedModules packed = pack_modules(model);
  EXPECT_EQ(packed.size(), 2u);
  EXPECT_EQ(inner_layer->weight.sum().item<double>(), 4);
  EXPECT_EQ(outer_layer->weight.sum().item<double>(), 4);
  unpack_modules(packed);
  EXPECT_TRUE(inner_layer->weight.is_same(weight));
  EXPECT_EQ(outer_layer->weight.sum().item<double>(), 2);
}

}  // namespace
}  // namespace cachet::ops
