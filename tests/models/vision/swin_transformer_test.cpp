#include "cachet/models/vision/swin_transformer.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include "tests/models/recipe_problems.h"
#include "tests/support/refused.h"

namespace cachet {
namespace {

using SwinClassifier = models::SwinTransformerClassifier;

models::SwinTransformerOptions small_swin() {
  models::SwinTransformerOptions o;
  o.image = {3, 32, 32};
  o.patch_size = 2;
  o.embed_dim = 8;
  o.stages = {{2, 2}, {2, 4}};
  o.window_size = 4;
  o.mlp_ratio = 2;
  return o;
}

TEST(SwinTransformer, TakesEveryCacheAndNormOnImagesOfAnySize) {
  for (const nn::CacheOptions& cache :
       {nn::CacheOptions{nn::NoCacheOptions{}}, nn::CacheOptions{nn::GatedRecurrentCacheOptions{}},
        nn::CacheOptions{nn::GatedRecurrentCacheOptions::of(nn::GatedRecurrentCacheVariant::official)},
        nn::CacheOptions{nn::FifoCacheOptions{}}, nn::CacheOptions{nn::ConcatenatedCacheOptions{}}}) {
    auto o = small_swin();
    o.plug_ins.cache = cache;
    o.plug_ins.norm = nn::BatchNormOptions{};
    SwinClassifier model(o, 5);
    for (const auto& [h, w] : {std::pair{32, 32}, {33, 47}, {5, 64}, {1, 1}}) {
      const at::Tensor logits = model.forward(at::randn({2, 3, h, w}));
      ASSERT_EQ(logits.sizes(), at::IntArrayRef({2, 5})) << h << " x " << w;
      logits.sum().backward();
    }
    model.eval();
    EXPECT_EQ(model.forward(at::randn({0, 3, 32, 32})).sizes(), at::IntArrayRef({0, 5})) << "an empty batch";
  }
}

TEST(SwinTransformer, ACacheRemembersAWindow) {
  auto o = small_swin();
  o.plug_ins.cache = nn::GatedRecurrentCacheOptions{};
  o.stages[0].cache_pool = 2;
  const auto buffers = models::SwinTransformer(o).named_buffers();
  EXPECT_EQ(buffers["layers.0.blocks.1.attn.cache.tokens"].sizes(), at::IntArrayRef({1, 4, 4})) << "4 x 4, pooled by 2";
  EXPECT_EQ(buffers["layers.1.blocks.0.attn.cache.tokens"].sizes(), at::IntArrayRef({1, 16, 8}));
  o.plug_ins.cache = nn::ConcatenatedCacheOptions{};
  EXPECT_EQ(models::SwinTransformer(o).named_buffers()["layers.0.blocks.1.attn.cache.tokens"].sizes(),
            at::IntArrayRef({1, 16, 8}))
      << "of whole windows";
}

TEST(SwinTransformer, APoolAsLargeAsTheWindowIsNoted) {
  const auto notes = [](const std::string& settings) {
    auto document = config::Document::from_text(
        "[model]\nname = \"swin_tiny_patch4_window7_224\"\ncache = {kind = \"grc\"}\n" + settings, "r.toml");
    models::read_image_classifier(document.root().table("model"));
    document.finish();
    return document.notes();
  };
  EXPECT_EQ(notes("cache_pools = [7, 2, 1, 1]"),
            (std::vector<std::string>{"r.toml:4: model.cache_pools: the pooling by 7 leaves the memory attention of "
                                      "stage 1 only one key, so its output does not depend on the query"}));
  EXPECT_TRUE(notes("cache_pools = [4, 2, 1, 1]").empty());
}

TEST(SwinTransformer, FeaturesAreTheStagesMaps) {
  models::SwinTransformer model(small_swin());
  const auto maps = model.features(at::randn({2, 3, 32, 46}));
  ASSERT_EQ(maps.size(), 2u);
  EXPECT_EQ(maps[0].sizes(), at::IntArrayRef({2, 8, 16, 23}));
  EXPECT_EQ(maps[1].sizes(), at::IntArrayRef({2, 16, 8, 12}));
  EXPECT_EQ(model.feature_channels(), (std::vector<int64_t>{8, 16}));
  EXPECT_EQ(model.feature_strides(), (std::vector<int64_t>{2, 4}));
}

TEST(SwinTransformer, TrainsAfterInferenceMode) {
  SwinClassifier model(small_swin(), 5);
  const at::Tensor images = at::randn({2, 3, 32, 32});
  {
    const c10::InferenceMode inference;
    model.forward(images);
  }
  model.forward(images).sum().backward();
  EXPECT_TRUE(model.named_parameters()["layers.0.blocks.1.attn.qkv.weight"].grad().defined());
}

TEST(SwinTransformer, NamesWhatItRefuses) {
  SwinClassifier model(small_swin(), 5);
  test::expect_refused([&] { model.forward(at::randn({3, 32, 32})); }, "images must be (B, 3, H, W)");
  test::expect_model_problems({
      {"name = \"swin_tiny_patch4_window7_224\"\nattention.kind = \"elu\"", "model.attention.kind: must be 'softmax'"},
      {"name = \"swin_tiny_patch4_window7_224\"\nattention.kind = \"bigbird\"",
       "model.attention.kind: must be 'softmax'"},
      {"name = \"swin_tiny_patch4_window7_224\"\nnum_heads = [3, 6, 12, 25]",
       "must divide the 768 channels of stage 4, got 25"},
      {"name = \"swin_tiny_patch4_window7_224\"\ncache = {kind = \"grc\", ratio = 0.1}",
       "of stage 2), which must be a positive multiple of the 6 heads"},
      {"name = \"swin_tiny_patch4_window8_224\"", "did you mean 'swin_tiny_patch4_window7_224'"},
  });
}

}  // namespace
}  // namespace cachet
