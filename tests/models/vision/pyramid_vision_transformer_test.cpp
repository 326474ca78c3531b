#include "cachet/models/vision/pyramid_vision_transformer.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "cachet/models/registry.h"
#include "tests/models/finite_state.h"
#include "tests/models/recipe_problems.h"
#include "tests/support/attention_functions.h"
#include "tests/support/refused.h"

namespace cachet {
namespace {

using models::PyramidForm;
using PyramidClassifier = models::PyramidVisionTransformerClassifier;

models::PyramidVisionTransformerOptions small_pyramid(PyramidForm form) {
  models::PyramidVisionTransformerOptions o;
  o.form = form;
  o.image = {3, 64, 64};
  o.stages = {{8, 1, 1, 2, 8}, {16, 1, 2, 2, 4}, {16, 1, 2, 2, 2}, {32, 1, 4, 2, 1}};
  return o;
}

constexpr PyramidForm kForms[] = {PyramidForm::v1, PyramidForm::v2, PyramidForm::v2_linear};

TEST(PyramidVisionTransformer, TakesEveryPlugInOnImagesThatAreNotSquare) {
  for (const PyramidForm form : kForms)
    for (const nn::CacheOptions& cache :
         {nn::CacheOptions{nn::NoCacheOptions{}}, nn::CacheOptions{nn::GatedRecurrentCacheOptions{}},
          nn::CacheOptions{nn::GatedRecurrentCacheOptions::of(nn::GatedRecurrentCacheVariant::official)},
          nn::CacheOptions{nn::FifoCacheOptions{}}, nn::CacheOptions{nn::ConcatenatedCacheOptions{}}})
      for (const auto reduction : {models::MemoryReduction::as_self, models::MemoryReduction::none}) {
        auto o = small_pyramid(form);
        o.plug_ins.cache = cache;
        o.plug_ins.norm = nn::UnifiedNormOptions{};
        o.memory_reduction = reduction;
        PyramidClassifier model(o, 5);
        for (const auto& [h, w] : {std::pair{64, 64}, {64, 96}, {128, 32}}) {
          const at::Tensor logits = model.forward(at::randn({2, 3, h, w}));
          ASSERT_EQ(logits.sizes(), at::IntArrayRef({2, 5}));
          logits.sum().backward();
        }
        EXPECT_EQ(model.forward(at::randn({0, 3, 64, 64})).sizes(), at::IntArrayRef({0, 5})) << "an empty batch";
        EXPECT_EQ(model.forward(at::randn({1, 3, 64, 64})).sizes(), at::IntArrayRef({1, 5})) << "a single image";
        EXPECT_TRUE(test::has_finite_state(model)) << "an empty batch has no mean";
      }
}

TEST(PyramidVisionTransformer, TakesEveryAttentionFunction) {
  for (const auto& function : test::attention_functions())
    for (const PyramidForm form : kForms) {
      auto o = small_pyramid(form);
      o.plug_ins.attention.function = function.options;
      o.plug_ins.cache = nn::GatedRecurrentCacheOptions{};
      PyramidClassifier model(o, 5);
      const at::Tensor logits = model.forward(at::randn({2, 3, 64, 64}));
      ASSERT_EQ(logits.sizes(), at::IntArrayRef({2, 5})) << function.name;
      logits.sum().backward();
    }
}

TEST(PyramidVisionTransformer, FeaturesAreTheStagesMaps) {
  for (const PyramidForm form : kForms) {
    models::PyramidVisionTransformer model(small_pyramid(form));
    const auto maps = model.features(at::randn({2, 3, 64, 96}));
    ASSERT_EQ(maps.size(), 4u);
    for (size_t i = 0; i < 4; ++i) {
      const int64_t stride = model.feature_strides()[i];
      EXPECT_EQ(stride, int64_t{4} << i);
      EXPECT_EQ(maps[i].sizes(), at::IntArrayRef({2, model.feature_channels()[i], 64 / stride, 96 / stride}));
      EXPECT_TRUE(maps[i].is_contiguous(at::MemoryFormat::ChannelsLast));
    }
  }
}

TEST(PyramidVisionTransformer, TheSecondGenerationTakesAnySize) {
  models::PyramidVisionTransformer model(small_pyramid(PyramidForm::v2));
  const auto maps = model.features(at::randn({1, 3, 67, 93}));
  EXPECT_EQ(maps[0].sizes(), at::IntArrayRef({1, 8, 17, 24})) << "⌈67/4⌉ × ⌈93/4⌉";
  EXPECT_EQ(maps[3].sizes(), at::IntArrayRef({1, 32, 3, 3}));
}

TEST(PyramidVisionTransformer, CachesArePooledAsTheirStageSays) {
  auto o = small_pyramid(PyramidForm::v2);
  o.plug_ins.cache = nn::GatedRecurrentCacheOptions{};
  o.stages[0].cache_pool = 2;
  const auto buffers = models::PyramidVisionTransformer(o).named_buffers();
  EXPECT_EQ(buffers["stages.0.blocks.0.attn.cache.tokens"].size(1), 8 * 8);
  EXPECT_EQ(buffers["stages.1.blocks.0.attn.cache.tokens"].size(1), 8 * 8);
  EXPECT_EQ(buffers["stages.2.blocks.0.attn.cache.tokens"].size(1), 4 * 4);
}

TEST(PyramidVisionTransformer, NamesWhatItRefuses) {
  PyramidClassifier v1(small_pyramid(PyramidForm::v1), 5), v2(small_pyramid(PyramidForm::v2), 5);
  test::expect_refused([&] { v1.forward(at::randn({1, 3, 64, 48})); }, "H and W multiples of 32");
  test::expect_refused([&] { v1.forward(at::randn({1, 1, 64, 64})); }, "images must be (B, 3, H, W)");
  test::expect_refused(
      [&] {
        v2.forward(at::randn({1, 3, 24, 64}));
      },
      "a grid of 6 x 16 is too small to be reduced by 8");
}

TEST(PyramidVisionTransformer, APoolOfAStageCountsInsteadOfThatOfAllCaches) {
  auto document = config::Document::from_text(
      "[model]\nname = \"pvt_tiny\"\ncache_pools = [2, 2, 2, 2]\ncache = {kind = \"grc\", pool = 8}\n", "r.toml");
  auto defaults = small_pyramid(PyramidForm::v1);
  defaults.image = {3, 224, 224};
  const config::View model = document.root().table("model");
  model.required_text("name");
  const auto options = models::read_pyramid_vision_transformer_options(model, defaults);
  ASSERT_EQ(options.stages.size(), 4u);
  for (const auto& stage : options.stages) EXPECT_EQ(stage.cache_pool, 2);
  EXPECT_EQ(std::get<nn::GatedRecurrentCacheOptions>(options.plug_ins.cache).pool, 8);
  // The pool of 8 would leave the stages' memory one key each, or none.
  document.finish();
  EXPECT_EQ(document.notes(), std::vector<std::string>{});
}

TEST(PyramidVisionTransformer, APoolAndAReductionThatLeaveOneKeyAreNoted) {
  const auto notes = [](const std::string& settings) {
    auto document = config::Document::from_text("[model]\n" + settings, "r.toml");
    models::read_image_classifier(document.root().table("model"));
    document.finish();
    return document.notes();
  };
  const std::string grc = "\ncache = {kind = \"grc\"}\n";
  // 56 tokens a side, pooled by 4 and reduced by 8; 28, by 2 and 4, leave 3 x 3.
  EXPECT_EQ(
      notes("name = \"pvt_tiny\"\ncache_pools = [4, 2, 1, 1]" + grc),
      (std::vector<std::string>{
          "r.toml:3: model.cache_pools: the pooling by 4 and the spatial reduction by 8 leave the memory attention "
          "of stage 1 only one key, so its output does not depend on the query"}));
  EXPECT_EQ(notes("name = \"pvt_v2_b2\"\ncache = {kind = \"grc\", pool = 4}\n").size(), 2U) << "stages 1 and 2";
  for (const std::string& quiet :
       {"name = \"pvt_tiny\"" + grc, "name = \"pvt_tiny\"\ncache_pools = [2, 2, 1, 1]" + grc,
        "name = \"pvt_tiny\"\ncache_pools = [4, 2, 1, 1]\nmemory_reduction = \"none\"" + grc,
        "name = \"pvt_tiny\"\ncache_pools = [1, 1, 1, 7]" + grc,  // the class token is a second key
        std::string("name = \"pvt_tiny\"\ncache_pools = [4, 2, 1, 1]\n")})
    EXPECT_TRUE(notes(quiet).empty()) << quiet;
}

TEST(PyramidVisionTransformer, AConcatenatedCacheHasAnEntryForEachKey) {
  for (const auto& [name, of_last] : {std::pair{"pvt_tiny", 50}, {"pvt_v2_b0", 49}, {"pvt_v2_b2_li", 49}}) {
    auto document = config::Document::from_text("[model]\ncache.kind = \"concatenated\"\n", "r.toml");
    const auto plan = models::read_image_classifier(name, document.root().table("model"));
    document.finish();
    const auto buffers = plan.build()->named_buffers();
    for (const char* stage : {"0", "1", "2"})
      EXPECT_EQ(buffers[std::string("stages.") + stage + ".blocks.0.attn.cache.tokens"].size(1), 49) << name;
    EXPECT_EQ(buffers["stages.3.blocks.0.attn.cache.tokens"].size(1), of_last) << name;
  }
}

TEST(PyramidVisionTransformer, ImpossibleModelsAreProblemsThatNameTheKey) {
  test::expect_model_problems({
      {"name = \"pvt_tiny\"\ndepths = [2, 2, 2]", "model.depths: must have 4 numbers, one for each stage, got 3"},
      {"name = \"pvt_tiny\"\nnum_heads = [1, 3, 5, 8]", "must divide embed_dim (128) of stage 2, got 3"},
      {"name = \"pvt_tiny\"\nimage_size = 100", "model.image_size: height and width must be multiples of 32"},
      {"name = \"pvt_v2_b0\"\nimage_size = [64, 28]",
       "model.image_size: 64 x 28 is too small: stage 1 reduces 8 tokens on each side to one token, so the stage needs "
       "at "
       "least 29 pixels a side"},
      {"name = \"pvt_v2_b0\"\nimage_size = 16\nspatial_reductions = [1, 1, 2, 1]",
       "16 x 16 is too small: stage 3 reduces 2 tokens on each side to one token, so the stage needs at least 17 "
       "pixels a side"},
      {"name = \"pvt_tiny\"\ncache = {kind = \"grc\", ratio = 0.3}",
       "of stage 3), which must be a positive multiple of the 5 heads"},
      {"name = \"pvt_v2_b2_li\"\nspatial_reductions = [8, 4, 2, 1]", "spatial_reductions"},
      {"name = \"pvt_tiny\"\nmemory_reduction = \"nothing\"", "memory_reduction"},
      {"name = \"pvt_tiny\"\ncache = {kind = \"grc\", length = 64}",
       "model.cache.length: gives a cache without a grid, but spatial reduction needs a grid"},
      {"name = \"pvt_tiny\"\nimage_size = 64\ncache_pools = [4, 2, 1, 1]\ncache = {kind = \"grc\"}",
       "model.cache_pools: leaves the cache of stage 1 with 4 slots a side, but its memory attention reduces 8"},
      {"name = \"pvt_tiny\"\nimage_size = 64\ncache = {kind = \"grc\", pool = 4}",
       "model.cache.pool: leaves the cache of stage 1 with 4 slots a side, but its memory attention reduces 8"},
      {"name = \"pvt_tiny\"\ncache_pools = [4, 2, 1, 1]\ncache = {kind = \"concatenated\"}",
       "model.cache_pools: must be left out or 1: a concatenated cache has one entry for each key of the layer"},
      {"name = \"pvt_smal\"", "did you mean 'pvt_small'"},
  });
}

}  // namespace
}  // namespace cachet
