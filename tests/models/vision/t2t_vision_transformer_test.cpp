#include "cachet/models/vision/t2t_vision_transformer.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "cachet/nn/layers/positions.h"
#include "tests/models/finite_state.h"
#include "tests/models/recipe_problems.h"
#include "tests/support/attention_functions.h"
#include "tests/support/refused.h"

namespace cachet {
namespace {

using models::T2tVisionTransformer;

models::T2tVisionTransformerOptions small_t2t(models::TokenAttention attention) {
  models::T2tVisionTransformerOptions o;
  o.image = {3, 32, 32};
  o.classes = 5;
  o.token_attention = attention;
  o.token_dim = 8;
  o.embed_dim = 16;
  o.depth = 2;
  o.num_heads = 2;
  return o;
}

TEST(T2tVisionTransformer, TakesEveryPlugInOnImagesOfAnySize) {
  for (const auto attention : {models::TokenAttention::performer, models::TokenAttention::transformer})
    for (const nn::CacheOptions& cache :
         {nn::CacheOptions{nn::NoCacheOptions{}}, nn::CacheOptions{nn::FifoCacheOptions{}},
          nn::CacheOptions{nn::GatedRecurrentCacheOptions::of(nn::GatedRecurrentCacheVariant::official)}})
      for (const nn::NormOptions& norm :
           {nn::NormOptions{nn::LayerNormOptions{}}, nn::NormOptions{nn::UnifiedNormOptions{}}}) {
        auto o = small_t2t(attention);
        o.plug_ins.cache = cache;
        o.plug_ins.norm = norm;
        T2tVisionTransformer model(o);
        for (const auto& [h, w] : {std::pair{32, 32}, {48, 20}, {37, 33}}) {
          const at::Tensor logits = model.forward(at::randn({2, 3, h, w}));
          ASSERT_EQ(logits.sizes(), at::IntArrayRef({2, 5})) << h << " x " << w;
          logits.sum().backward();
        }
        EXPECT_EQ(model.forward(at::randn({0, 3, 32, 32})).sizes(), at::IntArrayRef({0, 5})) << "an empty batch";
        EXPECT_EQ(model.forward(at::randn({1, 3, 32, 32})).sizes(), at::IntArrayRef({1, 5})) << "a single image";
        EXPECT_TRUE(test::has_finite_state(model)) << "an empty batch has no mean";
      }
}

TEST(T2tVisionTransformer, TakesEveryAttentionFunction) {
  for (const auto& function : test::attention_functions()) {
    auto o = small_t2t(models::TokenAttention::performer);
    o.image = {3, 64, 64};
    o.plug_ins.attention.function = function.options;
    o.plug_ins.cache = nn::GatedRecurrentCacheOptions{};
    const at::Tensor logits = T2tVisionTransformer(o).forward(at::randn({2, 3, 64, 64}));
    EXPECT_EQ(logits.sizes(), at::IntArrayRef({2, 5})) << function.name;
    logits.sum().backward();
  }
}

TEST(T2tVisionTransformer, TheRandomMapIsOrthogonalStateAndNotTrained) {
  const T2tVisionTransformer model(small_t2t(models::TokenAttention::performer));
  const at::Tensor features = model.named_buffers()["tokens_to_token.attention1.attn.features"];
  EXPECT_TRUE(at::allclose(features.mm(features.t()), 4 * at::eye(4), 1e-4, 1e-4)) << "rows of length √m";
  EXPECT_FALSE(model.named_parameters().contains("tokens_to_token.attention1.attn.features"));
}

TEST(PositionTable, SinusoidsAreThoseOfTheFormula) {
  const at::Tensor table = nn::sinusoidal_positions(5, 7);
  ASSERT_EQ(table.sizes(), at::IntArrayRef({1, 5, 7}));
  for (int64_t p = 0; p < 5; ++p)
    for (int64_t c = 0; c < 7; ++c) {
      const double angle = static_cast<double>(p) / std::pow(10000.0, static_cast<double>(c / 2 * 2) / 7);
      EXPECT_NEAR(table[0][p][c].item<double>(), c % 2 == 0 ? std::sin(angle) : std::cos(angle), 1e-7);
    }
}

TEST(T2tVisionTransformer, NamesWhatItRefuses) {
  T2tVisionTransformer model(small_t2t(models::TokenAttention::performer));
  test::expect_refused([&] { model.forward(at::randn({1, 4, 32, 32})); }, "images must be (B, 3, H, W)");
  test::expect_model_problems({
      {"name = \"t2t_vit_14\"\nnum_heads = 5", "model.num_heads: must divide embed_dim (384), got 5"},
      {"name = \"t2t_vit_t_14\"\ntoken_dropout = 0.1", "token_dropout"},
      {"name = \"t2t_vit_15\"", "did you mean"},
  });
}

}  // namespace
}  // namespace cachet
