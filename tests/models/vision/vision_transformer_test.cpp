#include "cachet/models/vision/vision_transformer.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "cachet/models/registry.h"
#include "cachet/models/vision/position_table.h"
#include "tests/models/finite_state.h"
#include "tests/models/recipe_problems.h"
#include "tests/support/attention_functions.h"
#include "tests/support/refused.h"

namespace cachet {
namespace {

using models::VisionTransformerOptions;

VisionTransformerOptions small_options() {
  VisionTransformerOptions o;
  o.image = {3, 16, 16};
  o.patch_size = 4;
  o.classes = 5;
  o.embed_dim = 8;
  o.depth = 2;
  o.num_heads = 2;
  return o;
}

std::set<std::string> parameter_names(const torch::nn::Module& module) {
  std::set<std::string> names;
  for (const auto& item : module.named_parameters()) names.insert(item.key());
  return names;
}

TEST(VisionTransformer, TakesImagesOfOtherSizesAndShapes) {
  VisionTransformerOptions o = small_options();
  o.plug_ins.cache = nn::GatedRecurrentCacheOptions::of(nn::GatedRecurrentCacheVariant::official);
  models::VisionTransformer model(o);
  for (const auto& [h, w] : {std::pair{16, 16}, {32, 16}, {8, 24}, {4, 4}})
    EXPECT_EQ(model.forward(at::randn({2, 3, h, w})).sizes(), at::IntArrayRef({2, 5}));
  EXPECT_EQ(model.forward(at::randn({0, 3, 16, 16})).sizes(), at::IntArrayRef({0, 5})) << "an empty batch";
  EXPECT_TRUE(test::has_finite_state(model)) << "an empty batch has no mean";
}

TEST(VisionTransformer, ATrainingStepWithEveryAttentionFunctionACacheAndUnifiedNorm) {
  for (const auto& function : test::attention_functions()) {
    VisionTransformerOptions o = small_options();
    o.image = {3, 24, 24};
    o.plug_ins.attention.function = function.options;
    o.plug_ins.cache = nn::GatedRecurrentCacheOptions{};
    nn::UnifiedNormOptions norm;
    norm.settings.warmup = 1;
    o.plug_ins.norm = norm;
    models::VisionTransformer model(o);
    for (int step = 0; step < 2; ++step) {
      model.zero_grad();
      model.forward(at::randn({4, 3, 24, 24})).pow(2).sum().backward();
    }
    for (const auto& parameter : model.named_parameters()) {
      ASSERT_TRUE(parameter.value().grad().defined()) << function.name << ' ' << parameter.key();
      EXPECT_TRUE(parameter.value().grad().isfinite().all().item<bool>()) << function.name << ' ' << parameter.key();
    }
  }
}

TEST(VisionTransformer, MeanPoolingLeavesTheClassTokenOutAndNormsBehind) {
  VisionTransformerOptions o = small_options();
  o.pooling = models::Pooling::mean;
  models::VisionTransformer model(o);
  const auto names = parameter_names(model);
  EXPECT_TRUE(names.count("fc_norm.weight"));
  EXPECT_FALSE(names.count("norm.weight"));
  const at::Tensor images = at::randn({2, 3, 16, 16});
  EXPECT_EQ(model.tokens(images).sizes(), at::IntArrayRef({2, 17, 8}));
  o.class_token = false;
  models::VisionTransformer without(o);
  EXPECT_FALSE(parameter_names(without).count("cls_token"));
  EXPECT_EQ(without.tokens(images).sizes(), at::IntArrayRef({2, 16, 8}));
}

TEST(VisionTransformer, TheDistilledFormAveragesItsTwoHeads) {
  VisionTransformerOptions o = small_options();
  o.distilled = true;
  models::VisionTransformer model(o);
  model.eval();
  const auto parameters = model.named_parameters();
  const at::Tensor images = at::randn({2, 3, 16, 16}), tokens = model.tokens(images);
  const at::Tensor head = at::linear(tokens.select(1, 0), parameters["head.weight"], parameters["head.bias"]);
  const at::Tensor dist = at::linear(tokens.select(1, 1), parameters["head_dist.weight"], parameters["head_dist.bias"]);
  EXPECT_TRUE(at::allclose(model.forward(images), (head + dist) / 2, 1e-5, 1e-6));
  EXPECT_TRUE(parameters.contains("dist_token"));
}

TEST(VisionTransformer, SpreadsThePositionTableAsAsked) {
  VisionTransformerOptions o = small_options();
  o.embed_dim = 512;
  for (const double spread : {0.02, 0.5}) {
    o.position_std = spread;
    // Of 8704 values; a cut at 2 takes nothing off 0.5 that could be seen.
    EXPECT_NEAR(models::VisionTransformer(o).named_parameters()["pos_embed"].std().item<double>(), spread, spread / 20);
  }
}

TEST(VisionTransformer, NamesWhatItRefuses) {
  models::VisionTransformer model(small_options());
  for (const at::Tensor& images :
       {at::randn({3, 16, 16}), at::randn({1, 1, 16, 16}), at::randn({1, 3, 18, 16}), at::randn({1, 3, 0, 16})})
    test::expect_refused([&] { model.forward(images); }, "images must be (B, 3, H, W) with H and W multiples of 4");
}

TEST(PositionTable, KeepsItsClassRowsAndAConstantGrid) {
  const at::Tensor table = at::cat({at::full({1, 1, 2}, 7.0), at::full({1, 9, 2}, 3.0)}, 1);
  const at::Tensor resized = models::resize_position_table(table, 1, {3, 3}, {5, 2}, models::Resampling::bicubic);
  EXPECT_EQ(resized.sizes(), at::IntArrayRef({1, 11, 2}));
  EXPECT_TRUE(at::allclose(resized.slice(1, 0, 1), table.slice(1, 0, 1)));
  EXPECT_TRUE(at::allclose(resized.slice(1, 1), at::full({1, 10, 2}, 3.0), 1e-5, 1e-5))
      << "weights of a resize sum to 1";
  EXPECT_TRUE(models::resize_position_table(table, 1, {3, 3}, {3, 3}, models::Resampling::bilinear).is_same(table));
  test::expect_refused(
      [&] {
        models::resize_position_table(table, 2, {3, 3}, {5, 2}, models::Resampling::bilinear);
      },
      "table must be (1, 2 + 3 x 3, D)");
}

TEST(ModelRegistry, ReadsARecipesTableOverTheDataSetsDefaults) {
  auto document = config::Document::from_text(
      "[model]\nname = \"vit_tiny_patch16_224\"\npatch_size = 4\nembed_dim = 24\ncache.kind = \"grc\"\n", "r.toml");
  models::ImageDefaults defaults{models::ImageShape{1, 28, 28}, 10};
  const auto plan = models::read_image_classifier(document.root().table("model"), defaults);
  document.finish();
  EXPECT_EQ(plan.build()->forward(at::randn({2, 1, 28, 28})).sizes(), at::IntArrayRef({2, 10}));
}

TEST(ModelRegistry, ImpossibleModelsAreProblemsThatNameTheKey) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"name = \"vit_tiny_patch16_244\"", "did you mean 'vit_tiny_patch16_224'"},
      {"name = \"vit_tiny_patch16_224\"\nnum_heads = 5", "model.num_heads: must divide embed_dim (192), got 5"},
      {"name = \"vit_tiny_patch16_224\"\nimage_size = 30",
       "model.patch_size: must divide the height and width of the image (30 x 30), got 16"},
      {"name = \"vit_tiny_patch16_224\"\nimage_size = [32, 32, 32]", "must be one number, or two"},
      {"name = \"vit_tiny_patch16_224\"\nclass_token = false", "model.pooling: 'token' needs class_token = true"},
      {"name = \"vit_tiny_patch16_224\"\ndistilled = true\npooling = \"mean\"", "model.distilled: needs a class token"},
      {"name = \"vit_tiny_patch16_224\"\ncache = {kind = \"grc\", ratio = 0.35}",
       "model.cache.ratio: gives a memory of 67 channels"},
      {"name = \"vit_tiny_patch16_224\"\ncache = {kind = \"grc\", variant = \"official\", ratio = 0.75}",
       "must divide embed_dim 192"},
      {"name = \"vit_tiny_patch16_224\"\nattention = {kind = \"kernel\", form = \"aoglu\", gate_rank = 65}",
       "model.attention.gate_rank: must not be above the number of channels of a head, but 65 is more than the 64 "
       "channels of a head"},
      {"name = \"vit_tiny_patch16_224\"\ncache.kind = \"grc\"\n"
       "attention = {kind = \"kernel\", form = \"aoglu\", gate_rank = 33}",
       "model.attention.gate_rank: must not be above the number of channels of a head, but 33 is more than the 32 "
       "channels of a head of the memory"},
      {"name = \"vit_tiny_patch16_224\"\npath_size = 4", "patch_size"},
  };
  test::expect_model_problems(cases);
}

}  // namespace
}  // namespace cachet
