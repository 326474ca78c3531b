// Every options struct of a model takes designated initialisers, with any of its members left out. Defaults are checked
// when this is compiled; the tests check what is not constant.
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
  // Published without biases of queries, keys and values, unless a test sets them.
  EXPECT_FALSE((T2tVisionTransformerOptions{.classes = 10}.plug_ins.attention.qkv_bias));
  EXPECT_FALSE((LongRangeOptions{.depth = 2}.plug_ins.attention.projection_bias));
  EXPECT_TRUE((LongRangeOptions{.plug_ins = {.norm = nn::RMSNormOptions{}}}.plug_ins.attention.qkv_bias));
  EXPECT_EQ((PatchEmbeddingOptions{.embed_dim = 8, .stride = 4}.channels), 3);
  EXPECT_EQ((LanguageBlockOptions{.model = "of blocks", .depth = 2}.activation), nn::Activation::gelu);
  EXPECT_EQ((TranslationTransformerOptions{.embed_dim = 8, .encoder = {.depth = 1}}.encoder.num_heads), 4);
}

TEST(DesignatedOptions, OfDetectors) {
  EXPECT_EQ((AnchorOptions{.scales = {4, 8}}.per_cell()), 6);
  static_assert(AssignmentOptions{.positive_iou = 0.5}.match_low_quality);
  static_assert(SampleOptions{.add_objects = true}.count == 256);
  static_assert(BoxCoderOptions{.clip_to_image = false}.deviations[0] == 1);
  static_assert(BoxLossOptions{.weight = 2}.beta == 0);
  static_assert(FocalLossOptions{.alpha = 0.5}.gamma == 2);
  static_assert(DetectionLimits{.most = 10}.iou_threshold == 0.5);
  static_assert(ProposalLimits{.most = 10}.per_level == 2000);
  static_assert(FpnOptions{.start_level = 1}.outputs == 5);
  static_assert(!DenseTargetOptions{.allowed_border = 0}.sampler);
  static_assert(RpnOptions{.channels = 8}.targets.sampler);
  static_assert(RoiExtractorOptions{.side = 14}.finest_scale == 56);
  static_assert(BoxHeadOptions{.classes = 3}.coder.deviations[3] == 0.2);
  static_assert(MaskHeadOptions{.classes = 3}.convolutions == 4);
  static_assert(RoiMaskOptions{.side = 28}.extractor.side == 14);
  static_assert(!RoiHeadOptions{.limits = {.most = 5}}.mask);
  EXPECT_EQ((RegionDetectorOptions{.roi = {.box = {.classes = 7}}}.classes()), 7);
  EXPECT_EQ((RetinaHeadOptions{.classes = 7}.targets.anchors.per_cell()), 9);
  EXPECT_EQ((RetinaNetOptions{.head = {.classes = 7}}.neck.start_level), 1);
  static_assert(ConvolutionOptions{.inputs = 2, .outputs = 3}.side == 3);
  static_assert(DetectionImage{.original = {}, .resized = {.height = 3}, .padded = {}}.scale[0] == 1);
}

// What models are made for.
static_assert(ImageShape{.channels = 1}.height == 224);
static_assert(ImageDefaults{.image = ImageShape{.height = 32, .width = 64}}.classes == std::nullopt);
static_assert(!SequenceShape{.vocabulary = 30}.pairs);
static_assert(SequenceDefaults{.classes = 4}.sequence == std::nullopt);
static_assert(TranslationShape{.source_vocabulary = 30, .target_vocabulary = 40}.tokens == TranslationTokens{});
static_assert(TranslationDefaults{.length = 4}.joint == std::nullopt);

}  // namespace
}  // namespace cachet::models
