#include "cachet/analysis/plug_ins/observations.h"

#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <cmath>

#include "cachet/models/vision/vision_transformer.h"
#include "cachet/nn/attention/cached_attention.h"

namespace cachet::analysis {
namespace {

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
    dynamic_cast<nn::CachedAttention&>(*second).share[1] = 2.0;
  }
  const auto shares = cache_shares(model);
  ASSERT_EQ(shares.size(), 2u);
  EXPECT_EQ(shares[0].layer, "blocks.0.attn");
  EXPECT_EQ(shares[1].layer, "blocks.1.attn");
  ASSERT_EQ(shares[1].shares.size(), 2u);
  EXPECT_NEAR(shares[1].shares[0], 1 / (1 + std::exp(1.0)), 1e-7);  // the published start, λ = -1
  EXPECT_NEAR(shares[1].shares[1], 1 / (1 + std::exp(-2.0)), 1e-7);
}

TEST(Observations, StepsOfUnifiedNormAreCountedByLayer) {
  models::VisionTransformer model(small_cached_model());
  for (int i = 0; i < 9; ++i) model.forward(at::randn({2, 1, 8, 8}));
  model.eval();
  model.forward(at::randn({2, 1, 8, 8}));  // evaluation is no step
  const auto steps = unified_norm_steps(model);
  ASSERT_EQ(steps.size(), 5u);  // two a block, and the last one
  EXPECT_EQ(steps.front().layer, "blocks.0.norm1");
  for (const auto& layer : steps) {
    EXPECT_EQ(layer.steps, 9) << layer.layer;
    EXPECT_GT(layer.on_window, 0) << layer.layer;
    EXPECT_LT(layer.on_window, 9) << layer.layer;
    EXPECT_EQ(layer.filtered, 0) << layer.layer;
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
