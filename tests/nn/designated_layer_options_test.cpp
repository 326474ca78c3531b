// Every options struct of a layer takes designated initialisers, with any of its members left out. Defaults are checked
// when this is compiled; the tests check what is not constant.
#include <gtest/gtest.h>

#include "cachet/nn/attention/cached_attention.h"
#include "cachet/nn/attention/multi_head_attention.h"
#include "cachet/nn/attention/spatial_reduction_attention.h"
#include "cachet/nn/attention/token_performer.h"
#include "cachet/nn/attention/token_transformer.h"
#include "cachet/nn/attention/window_attention.h"
#include "cachet/nn/transformer_block.h"

namespace cachet::nn {
namespace {

// Norms.
static_assert(LayerNormOptions{.eps = 1e-5}.eps == 1e-5);
static_assert(RMSNormOptions{.eps = 1e-5}.eps == 1e-5);
static_assert(BatchNormOptions{.momentum = 0.2}.eps == 1e-5);
static_assert(UnifiedNormOptions{.settings = {.warmup = 7}}.settings.forward_window == 4);
static_assert(MovingAverageBatchNormOptions{.window = 3}.warmup == 100);
static_assert(PowerNormOptions{.settings = {.warmup = 7}}.group_scaling);
static_assert(!PowerNormOptions{.group_scaling = false}.group_scaling);

TEST(DesignatedOptions, OfCaches) {
  static_assert(GatedRecurrentCacheOptions{.ratio = 0.3}.pool == 1);
  static_assert(GatedRecurrentCacheOptions{.length = 5, .attend = CacheAttend::per_sample}.ratio == 0.5);
  static_assert(FifoCacheOptions{.ratio = 0.25}.length == std::nullopt);
  const CacheOptions cache = FifoCacheOptions{.scope = CacheScope::batch_row};
  EXPECT_EQ(cached_layer_options(cache)->ratio, 0.5);
  const CacheOptions whole = GatedRecurrentCacheOptions{.ratio = 1, .length = 9, .share_start = -1};
  EXPECT_EQ(cached_layer_options(whole)->length, 9);
  EXPECT_FALSE(cached_layer_options(NoCacheOptions{}));
  EXPECT_FALSE(cached_layer_options(ConcatenatedCacheOptions{}));
}

TEST(DesignatedOptions, OfAttentionFunctions) {
  static_assert(SoftmaxOptions{.dropout = 0.1}.dropout == 0.1);
  static_assert(EluOptions{.eps = 0}.eps == 0);
  static_assert(KernelOptions{.form = KernelForm::linear}.layers == 1);
  static_assert(PerformerOptions{.count = 8}.redraw_every == 0);
  static_assert(BigBirdOptions{.window = 5}.block_size == 64);
  static_assert(LshOptions{.rounds = 2}.buckets == 64);
  static_assert(LocalOptions{.window = 3}.window == 3);
  const AttentionOptions attention{.function = KernelOptions{.layers = 2}, .qkv_bias = false};
  EXPECT_TRUE(attention.projection_bias);
  EXPECT_TRUE(std::holds_alternative<SoftmaxOptions>(AttentionOptions{.head_dim = 4}.function));
}

TEST(DesignatedOptions, OfAttentions) {
  EXPECT_EQ((MultiHeadOptions{.dim = 8, .num_heads = 2, .attention = {.head_dim = 3}}.context_dim), 0);
  EXPECT_EQ((CachedAttentionOptions{.dim = 8, .num_heads = 2, .cache = GatedRecurrentCacheOptions{}}.tokens), 0);
  EXPECT_EQ((SpatialReductionOptions{.ratio = 2}.form), ReductionForm::convolution);
  static_assert(TokenPerformerOptions{.dim = 8, .token_dim = 4}.feature_ratio == 0.5);
  static_assert(TokenTransformerOptions{.dim = 8, .token_dim = 4}.softmax.dropout == 0);
  static_assert(WindowSettings{.window = {7, 7}}.shift == Grid{});
  EXPECT_EQ((WindowAttentionOptions{.dim = 8, .num_heads = 2}.windows.order), WindowOrder::shift_then_pad);
  EXPECT_EQ((TokenLayout{.grid = Grid{.height = 2, .width = 3}}.class_tokens), 0);
  EXPECT_FALSE((AttentionArgs{.query = {.class_tokens = 1}}.causal));
}

TEST(DesignatedOptions, OfBlocks) {
  static_assert(FeedForwardOptions{.dim = 4, .hidden_dim = 8}.activation == Activation::gelu);
  static_assert(FeedForwardOptions{.dim = 4, .hidden_dim = 8, .hidden_dropout = 0.1}.dropout == 0.0);
  static_assert(CrossAttentionOptions{.context_dim = 6}.context_dim == 6);
  const TransformerBlockOptions block{.dim = 8, .num_heads = 2, .layout = {.class_tokens = 1}};
  EXPECT_EQ(block.norm_place, NormPlace::before);
  const PlugIns plug_ins{.attention = {.qkv_bias = false}, .norm = RMSNormOptions{}};
  EXPECT_TRUE(std::holds_alternative<NoCacheOptions>(plug_ins.cache));
}

}  // namespace
}  // namespace cachet::nn
