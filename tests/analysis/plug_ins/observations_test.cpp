#include "cachet/analysis/plug_ins/observations.h"

#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <cmath>

#include "cachet/models/vision/vision_transformer.h"
#include "cachet/nn/attention/cached_attention.h"
#include "cachet/nn/norm/unified_norm.h"

namespace cachet::analysis {
namespace {

std::vector<double> numbers_of(const at::Tensor& counters) {
  const at::Tensor here = counters.to(at::kDouble).contiguous();
  return {here.const_data_ptr<double>(), here.const_data_ptr<double>() + here.numel()};
}

models::VisionTransformerOptions small_cached_model() {
  models::VisionTransformerOptions o;
  o.image = {1, 8, 8};
  o.patch_size = 4;
  o.embed_dim = 8;
  o.depth = 2;
  o.num_heads = 2;
  o.classes = 3;
  o.plug_ins.cache = nn::GatedRecurrentCacheOptions::of(nn::GatedRecurrentCacheVariant::official);
  nn::UnifiedNormOptions norm;
  norm.settings.warmup = 1;
  norm.settings.filter_outliers = false;
  o.plug_ins.norm = norm;
  return o;
}

TEST(Observations, SharesAreSigmoidsByLayerAndHead) {
  models::VisionTransformer model(small_cached_model());
  auto second = model.named_modules("", /*include_self=*/false)["blocks.1.attn"];
  {
    at::NoGradGuard no_grad;
    dynamic_cast<nn::CachedAttention&>(*second).mixing_logit[1] = 2.0;
  }
  const auto shares = cache_shares(model);
  ASSERT_EQ(shares.size(), 2u);
  EXPECT_EQ(shares[0].layer, "blocks.0.attn");
  EXPECT_EQ(shares[1].layer, "blocks.1.attn");
  ASSERT_EQ(shares[1].shares.sizes(), at::IntArrayRef({2}));
  EXPECT_EQ(shares[1].shares.scalar_type(), at::kDouble);
  EXPECT_FALSE(shares[1].shares.requires_grad());
  EXPECT_NEAR(shares[1].shares[0].item<double>(), 1 / (1 + std::exp(1.0)), 1e-7);  // the published start, λ = -1
  EXPECT_NEAR(shares[1].shares[1].item<double>(), 1 / (1 + std::exp(-2.0)), 1e-7);
}

TEST(Observations, StepsOfUnifiedNormAreCountedByLayer) {
  models::VisionTransformer model(small_cached_model());
  for (int i = 0; i < 9; ++i) model.forward(at::randn({2, 1, 8, 8}));
  model.eval();
  model.forward(at::randn({2, 1, 8, 8}));  // evaluation is not a step
  const auto steps = unified_norm_steps(model);
  ASSERT_EQ(steps.size(), 5u);  // two a block, and the last one
  EXPECT_EQ(steps.front().layer, "blocks.0.norm1");
  for (const auto& layer : steps) {
    const nn::NormWindowUse use = layer.use(numbers_of(layer.counters));
    EXPECT_EQ(use.steps, 9) << layer.layer;
    EXPECT_GT(use.on_window, 0) << layer.layer;
    EXPECT_LT(use.on_window, 9) << layer.layer;
    EXPECT_EQ(use.filtered, 0) << layer.layer;
  }
}

/// A norm outside the library: it has a window, and counters of its own.
class OwnNorm : public nn::Cloneable<OwnNorm, nn::Norm> {
 public:
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor&) override { return x; }
  std::optional<nn::NormWindowUse> window_use() const override { return nn::NormWindowUse{5, 2.5, 0.5, true}; }
};

/// A norm of a given kind, and no other module.
class NormAlone : public torch::nn::Module {
 public:
  explicit NormAlone(const std::shared_ptr<nn::Norm>& norm) { register_module("norm", norm); }
};

TEST(Observations, NumbersOnTheHostSayWhatTheNormSays) {
  at::manual_seed(2);
  const auto with = [](ops::OutlierThreshold threshold) {
    ops::UnifiedNormSettings settings;
    settings.warmup = 1;
    settings.threshold = threshold;
    return settings;
  };
  const std::vector<std::shared_ptr<nn::Norm>> norms{
      std::make_shared<nn::UnifiedNorm>(3, with(ops::OutlierThreshold::channel)),
      std::make_shared<nn::UnifiedNorm>(3, with(ops::UnifiedNormSettings{}.threshold)), std::make_shared<OwnNorm>()};
  for (const auto& norm : norms) {
    for (int i = 0; i < 20; ++i) norm->forward(at::randn({4, 3}) * (i % 7 == 0 ? 50 : 1));
    const auto steps = unified_norm_steps(NormAlone(norm));
    ASSERT_EQ(steps.size(), 1u);
    const nn::NormWindowUse use = steps[0].use(numbers_of(steps[0].counters)), own = norm->window_use().value();
    EXPECT_EQ(use.steps, own.steps);
    EXPECT_EQ(use.on_window, own.on_window);
    EXPECT_EQ(use.filtered, own.filtered);
    EXPECT_EQ(use.by_channel, own.by_channel);
    EXPECT_EQ(steps[0].by_channel, own.by_channel);
    EXPECT_GT(own.filtered, 0);
  }
}

TEST(Observations, APlainModelHasNeither) {
  models::VisionTransformerOptions o = small_cached_model();
  o.plug_ins = {};
  models::VisionTransformer model(o);
  EXPECT_TRUE(cache_shares(model).empty());
  EXPECT_TRUE(unified_norm_steps(model).empty());
}

}  // namespace
}  // namespace cachet::analysis
