#include "cachet/analysis/plug_ins/memory_use.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <cmath>

#include "cachet/analysis/plug_ins/head_mixture.h"
#include "cachet/analysis/plug_ins/token_activations.h"

namespace cachet::analysis {
namespace {

// Two heads of two channels; the memory has one channel a head. One sample of one token.
const at::Tensor kHalves = at::tensor({0.5, 0.25}, at::kDouble);
const at::Tensor kOwn = at::tensor({2.0, -4.0, 4.0, 8.0}, at::kDouble).view({1, 1, 4});
const at::Tensor kRemembered = at::tensor({6.0, -8.0}, at::kDouble).view({1, 1, 2});

void hear(const nn::Listener& listener, const std::string& layer) {
  listener(layer, nn::Signal::token_grid, at::tensor({0, 1, 1}, at::kLong));
  listener(layer, nn::Signal::mixing_gate, kHalves);
  listener(layer, nn::Signal::self_output, kOwn);
  listener(layer, nn::Signal::memory_output, kRemembered);
}

TEST(HeadMixture, MemoryChannelsAreTheFirstOfEachHead) {
  const HeadMixture mixture = mixed_by_head(kHalves, kOwn, kRemembered);
  // 0.5·[2, −4] + 0.5·[6, 0];  0.75·[4, 8] + 0.25·[−8, 0]
  EXPECT_TRUE(mixture.sum.flatten().equal(at::tensor({4.0, -2.0, 1.0, 6.0}, at::kDouble)));
  EXPECT_TRUE(mixture.from_memory.flatten().equal(at::tensor({3.0, 0.0, -2.0, 0.0}, at::kDouble)));
}

TEST(MemoryUse, NormsAndActivationsByHand) {
  MemoryUse use;
  const nn::Listener listener = use.listener();
  hear(listener, "b");
  hear(listener, "a");
  hear(listener, "b");  // the same again changes no mean
  const ByLayer<MemoryUse::Layer> layers = use.layers();
  ASSERT_EQ(layers.size(), 2u);
  const auto& [path, layer] = *layers.begin();
  EXPECT_EQ(path, "b");  // in the order of the forward pass
  EXPECT_EQ(layer.shares, (std::vector<double>{0.5, 0.25}));
  EXPECT_NEAR(layer.contributions[0], 3 / std::sqrt(20.0), 1e-12);
  EXPECT_NEAR(layer.contributions[1], 2 / std::sqrt(37.0), 1e-12);
  EXPECT_NEAR(layer.contribution, std::sqrt(13.0 / 57.0), 1e-12);
  EXPECT_NEAR(layer.self_activation, 18.0 / 4, 1e-12);
  EXPECT_NEAR(layer.memory_activation, 14.0 / 2, 1e-12);
  EXPECT_NEAR(layer.mixture_activation, 13.0 / 4, 1e-12);
}

// The same token, and one that is padding.
TEST(MemoryUse, PaddingDoesNotCount) {
  MemoryUse use;
  const nn::Listener listener = use.listener();
  const auto with_padding = [](const at::Tensor& token) { return at::cat({token, at::full_like(token, 1e6)}, 1); };
  const at::Tensor padding = at::tensor({0, 1}, at::kLong).ne(0).view({1, 2});
  listener("a.self_attention.function", nn::Signal::token_padding, padding);  // which is not a layer of its own
  listener("a", nn::Signal::token_padding, padding);
  listener("a", nn::Signal::mixing_gate, kHalves);
  listener("a", nn::Signal::self_output, with_padding(kOwn));
  listener("a", nn::Signal::memory_output, with_padding(kRemembered));
  hear(listener, "a");  // nothing of the padding is left for the next pass
  const ByLayer<MemoryUse::Layer> layers = use.layers();
  ASSERT_EQ(layers.size(), 1U);
  const MemoryUse::Layer& layer = layers.begin()->second;
  EXPECT_NEAR(layer.contributions[0], 3 / std::sqrt(20.0), 1e-12);
  EXPECT_NEAR(layer.contribution, std::sqrt(13.0 / 57.0), 1e-12);
  EXPECT_NEAR(layer.self_activation, 18.0 / 4, 1e-12);
  EXPECT_NEAR(layer.memory_activation, 14.0 / 2, 1e-12);
  EXPECT_NEAR(layer.mixture_activation, 13.0 / 4, 1e-12);
}

TEST(TokenActivations, MeansOverChannelsAndTheGrid) {
  TokenActivations activations;
  hear(activations.listener(), "a");
  const auto& [path, layer] = *activations.layers().begin();
  ASSERT_TRUE(layer.grid.has_value());
  EXPECT_EQ(*layer.grid, (nn::Grid{1, 1}));
  EXPECT_NEAR(layer.self[0][0].item<double>(), 4.5, 1e-12);
  EXPECT_NEAR(layer.memory[0][0].item<double>(), 7, 1e-12);
  EXPECT_NEAR(layer.mixture[0][0].item<double>(), 13.0 / 4, 1e-12);
}

}  // namespace
}  // namespace cachet::analysis
