// Every options struct of a model takes designated initialisers, with any of its members left out.
#include <gtest/gtest.h>

#include "cachet/models/language/long_range_options.h"
#include "cachet/models/language/translation_transformer_options.h"
#include "cachet/models/vision/image_classifier.h"
#include "cachet/models/vision/patch_embedding.h"
#include "cachet/models/vision/pyramid_vision_transformer_options.h"
#include "cachet/models/vision/swin_transformer_options.h"
#include "cachet/models/vision/t2t_vision_transformer_options.h"
#include "cachet/models/vision/vision_transformer_options.h"

namespace cachet::models {
namespace {

TEST(DesignatedOptions, OfModels) {
  const VisionTransformerOptions vit{.image = {.height = 192, .width = 256}, .depth = 2};
  EXPECT_EQ(vit.grid(), (nn::Grid{12, 16}));
  const PyramidVisionTransformerOptions pvt{.form = PyramidForm::v2,
                                            .stages = {{.embed_dim = 8, .depth = 1, .num_heads = 1}}};
  EXPECT_EQ(pvt.stages.front().spatial_reduction, 1);
  const SwinTransformerOptions swin{.stages = {{.depth = 2, .num_heads = 3}}, .window_size = 8};
  EXPECT_EQ(swin.embed_dim, 96);
  // Published without biases of queries, keys and values, unless something else is said.
  EXPECT_FALSE((T2tVisionTransformerOptions{.classes = 10}.plug_ins.attention.qkv_bias));
  EXPECT_FALSE((LongRangeOptions{.depth = 2}.plug_ins.attention.projection_bias));
  EXPECT_TRUE((LongRangeOptions{.plug_ins = {.norm = nn::RMSNormOptions{}}}.plug_ins.attention.qkv_bias));
  EXPECT_EQ((PatchEmbeddingOptions{.embed_dim = 8, .stride = 4}.channels), 3);
  EXPECT_EQ((TranslationTransformerOptions{.embed_dim = 8, .encoder = {.depth = 1}}.encoder.num_heads), 4);
}

TEST(DesignatedOptions, OfWhatModelsAreMadeFor) {
  EXPECT_EQ(ImageShape{.channels = 1}.height, 224);
  EXPECT_EQ((ImageDefaults{.image = ImageShape{.height = 32, .width = 64}}.classes), std::nullopt);
  EXPECT_FALSE((SequenceShape{.vocabulary = 30}.pairs));
  EXPECT_EQ((SequenceDefaults{.classes = 4}.sequence), std::nullopt);
  EXPECT_EQ((TranslationShape{.source_vocabulary = 30, .target_vocabulary = 40}.tokens), TranslationTokens{});
  EXPECT_EQ((TranslationDefaults{.length = 4}.joint), std::nullopt);
}

}  // namespace
}  // namespace cachet::models
