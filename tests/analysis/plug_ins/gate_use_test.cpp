#include "cachet/analysis/plug_ins/gate_use.h"

#include <ATen/ops/full.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include "cachet/nn/base/observer.h"
#include "cachet/nn/cache/gated_recurrent_cache.h"

namespace cachet::analysis {
namespace {

TEST(GateUse, MeansAndSaturationByHand) {
  GateUse use;
  const nn::Listener listener = use.listener();
  listener("cache", nn::Signal::reset_gate, at::tensor({0.05, 0.5, 0.95, 0.5}, at::kDouble));
  listener("cache", nn::Signal::update_gate, at::tensor({0.02, 0.04}, at::kDouble));
  listener("cache", nn::Signal::update_gate, at::tensor({0.91, 0.03}, at::kDouble));
  const ByLayer<GateUse::Layer> layers = use.layers();
  const GateUse::Layer& layer = layers.begin()->second;
  EXPECT_NEAR(layer.reset.mean, 0.5, 1e-12);
  EXPECT_EQ(layer.reset.shut, 0.25);
  EXPECT_EQ(layer.reset.open, 0.25);
  EXPECT_NEAR(layer.update.mean, 0.25, 1e-12);
  EXPECT_EQ(layer.update.shut, 0.75);
  EXPECT_EQ(layer.update.open, 0.25);
}

// The cache reports the gates of its update: C' = (1 − u)·C + u·C̃, C̃ the candidate's constant.
TEST(GateUse, ACacheTellsTheGatesOfItsUpdate) {
  nn::GatedRecurrentCacheOptions options;
  options.variant = nn::GatedRecurrentCacheVariant::paper;
  options.ratio = 1.0;
  const auto made = std::make_shared<nn::GatedRecurrentCache>(options, 4, 3, nn::TokenLayout{});
  nn::GatedRecurrentCache& cache = *made;
  cache.to(at::kDouble);
  const at::NoGradGuard no_grad;
  auto parameters = cache.named_parameters();
  parameters["candidate.weight"].zero_();
  parameters["candidate.bias"].fill_(2.0);
  at::Tensor reset, update;
  const nn::Observation observation(cache, [&](const std::string&, nn::Signal signal, const at::Tensor& value) {
    if (signal == nn::Signal::reset_gate) reset = value;
    if (signal == nn::Signal::update_gate) update = value;
  });
  const at::Tensor before = cache.tokens.to(at::kDouble).clone(), x = at::randn({2, 3, 4}, at::kDouble);
  const nn::Memory memory = cache.step(x, x, nn::AttentionArgs::self({}));
  ASSERT_TRUE(reset.defined());
  ASSERT_EQ(update.sizes(), x.sizes());
  // The mean over the samples is stored: as u is a sample's, so is C' before that.
  const at::Tensor expected = ((1 - update) * before + update * 2.0).mean(0, /*keepdim=*/true);
  EXPECT_LT((cache.tokens.to(at::kDouble) - expected).abs().max().item<double>(), 1e-6);
}

}  // namespace
}  // namespace cachet::analysis
