// Every options struct of a model takes designated initialisers, with any of its members left out.
#include <gtest/gtest.h>

#include "cachet/models/detection/faster_rcnn.h"
#include "cachet/models/detection/retinanet.h"
#include "cachet/models/language/block_language_model.h"
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
  EXPECT_EQ((LanguageBlockOptions{.model = "of blocks", .depth = 2}.activation), nn::Activation::gelu);
  EXPECT_EQ((TranslationTransformerOptions{.embed_dim = 8, .encoder = {.depth = 1}}.encoder.num_heads), 4);
}

TEST(DesignatedOptions, OfDetectors) {
  EXPECT_EQ((AnchorOptions{.scales = {4, 8}}.per_cell()), 6);
  EXPECT_TRUE((AssignmentOptions{.positive_iou = 0.5}.match_low_quality));
  EXPECT_EQ((SampleOptions{.add_objects = true}.count), 256);
  EXPECT_EQ((BoxCoderOptions{.clip_to_image = false}.deviations[0]), 1);
  EXPECT_EQ((BoxLossOptions{.weight = 2}.beta), 0);
  EXPECT_EQ((FocalLossOptions{.alpha = 0.5}.gamma), 2);
  EXPECT_EQ((DetectionLimits{.most = 10}.iou_threshold), 0.5);
  EXPECT_EQ((ProposalLimits{.most = 10}.per_level), 2000);
  EXPECT_EQ((FpnOptions{.start_level = 1}.outputs), 5);
  EXPECT_FALSE((DenseTargetOptions{.allowed_border = 0}.sampler));
  EXPECT_TRUE((RpnOptions{.channels = 8}.targets.sampler));
  EXPECT_EQ((RoiExtractorOptions{.side = 14}.finest_scale), 56);
  EXPECT_EQ((BoxHeadOptions{.classes = 3}.coder.deviations[3]), 0.2);
  EXPECT_EQ((MaskHeadOptions{.classes = 3}.convolutions), 4);
  EXPECT_EQ((RoiMaskOptions{.side = 28}.extractor.side), 14);
  EXPECT_FALSE((RoiHeadOptions{.limits = {.most = 5}}.mask));
  EXPECT_EQ((RegionDetectorOptions{.roi = {.box = {.classes = 7}}}.classes()), 7);
  EXPECT_EQ((RetinaHeadOptions{.classes = 7}.targets.anchors.per_cell()), 9);
  EXPECT_EQ((RetinaNetOptions{.head = {.classes = 7}}.neck.start_level), 1);
  EXPECT_EQ((ConvolutionOptions{.inputs = 2, .outputs = 3}.side), 3);
  EXPECT_EQ((DetectionImage{.original = {}, .resized = {.height = 3}, .padded = {}}.scale[0]), 1);
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
