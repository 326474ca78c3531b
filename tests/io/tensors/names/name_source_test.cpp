#include "cachet/io/tensors/names/name_source.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "cachet/io/error.h"
#include "cachet/io/tensors/names/published_constants.h"
#include "tests/support/oracle.h"
#include "tests/support/thrown_message.h"

namespace cachet::io {
namespace {

// The parameters of a fixture as its source names them, as they are stored.
TensorMap parameters_of(const std::string& fixture) {
  TensorMap parameters;
  for (const auto& [name, tensor] : test::load_oracle(fixture).tensors)
    if (name.starts_with("param.")) parameters.emplace(name.substr(6), tensor);
  return parameters;
}

void expect_same(const TensorMap& actual, const TensorMap& expected) {
  for (const auto& [name, tensor] : expected) {
    const auto found = actual.find(name);
    if (found == actual.end()) {
      ADD_FAILURE() << name << " is missing";
      continue;
    }
    EXPECT_EQ(found->second.scalar_type(), tensor.scalar_type()) << name;
    EXPECT_TRUE(at::equal(found->second, tensor)) << name;
  }
  for (const auto& [name, tensor] : actual) EXPECT_TRUE(expected.contains(name)) << name << " is too much";
}

struct SourceCase {
  const char* fixture;
  NameSource source;
  ExportFacts facts;
  std::vector<std::string> ours;  // some of the names it must get
};

const std::vector<SourceCase> kSourceCases = {
    {"model_vit", NameSource::timm, {}, {"blocks.0.attn.qkv.weight", "pos_embed"}},
    {"model_pvt_v2", NameSource::timm, {}, {"stages.1.downsample.proj.weight"}},
    {"model_swin", NameSource::timm, {}, {"layers.1.downsample.norm.weight", "head.fc.bias"}},
    {"model_pvt_v1",
     NameSource::pvt,
     {},
     {"patch_embed.proj.weight", "stages.1.downsample.norm.bias", "stages.0.pos_embed", "stages.3.cls_token",
      "stages.2.blocks.0.attn.sr.weight", "norm.weight", "head.bias"}},
    {"pvt_official_grc",
     NameSource::grc,
     {},
     {"stages.0.blocks.0.attn.self_attention.kv.weight", "stages.0.blocks.0.attn.memory_attention.sr.bias",
      "stages.3.blocks.0.attn.self_attention.q.weight", "stages.2.blocks.1.attn.cache.reset_gate.weight",
      "stages.2.blocks.0.attn.cache.norm.bias", "stages.1.blocks.0.attn.share",
      "stages.1.blocks.0.attn.position.weight", "stages.3.cls_token"}},
    {"model_t2t",
     NameSource::t2t,
     {48, 48, {}},
     {"tokens_to_token.attention1.attn.features", "tokens_to_token.attention2.attn.kqv.weight",
      "tokens_to_token.attention2.mlp.fc2.bias", "blocks.0.attn.qkv.weight"}},
    {"model_t2t_un",
     NameSource::t2t,
     {32, 32, std::pair<int64_t, int64_t>(2, 2)},
     {"tokens_to_token.attention1.norm1.statistics", "blocks.0.norm2.counters", "norm.statistics", "norm.weight"}},
    {"model_mask_rcnn",
     NameSource::mmdetection,
     {},
     {"backbone.patch_embed.proj.weight", "backbone.stages.1.downsample.norm.bias",
      "backbone.stages.2.blocks.0.attn.sr.weight", "neck.lateral_convs.3.conv.weight", "rpn_head.rpn_cls.bias",
      "roi_head.bbox_head.shared_fcs.1.weight", "roi_head.mask_head.upsample.weight"}},
    {"model_retinanet",
     NameSource::mmdetection,
     {},
     {"backbone.stages.3.blocks.0.attn.kv.weight", "neck.fpn_convs.4.conv.weight", "bbox_head.cls_convs.3.conv.bias",
      "bbox_head.retina_reg.weight"}},
    {"model_transformer_xl",
     NameSource::transformer_xl,
     {},
     {"embedding.table_0", "output.table_0", "output.bias_0", "output.cluster_weight", "blocks.0.attn.content_bias",
      "blocks.1.attn.position.weight", "blocks.1.norm1.bias", "blocks.0.mlp.fc2.weight"}},
};

TEST(NameSource, IsRecognisedMapsAndMapsBackBitForBit) {
  for (const SourceCase& each : kSourceCases) {
    SCOPED_TRACE(each.fixture);
    const TensorMap theirs = parameters_of(each.fixture);
    ASSERT_FALSE(theirs.empty());
    EXPECT_EQ(recognize_names(theirs), each.source);
    const TensorMap ours = to_our_names(each.source, theirs);
    for (const std::string& name : each.ours) EXPECT_TRUE(ours.contains(name)) << name;
    expect_same(to_their_names(each.source, ours, each.facts), theirs);
    expect_same(to_our_names(each.source, to_their_names(each.source, ours, each.facts)), ours);
  }
}

// The fixture's weights have Hugging Face's names and record fairseq's name of each.
TensorMap fairseq_parameters() {
  const test::Oracle oracle = test::load_oracle("model_translation");
  TensorMap theirs = fairseq_constants();
  for (const auto& [name, tensor] : oracle.below("param.")) {
    const nlohmann::json& names = oracle.metadata.at("fairseq_names").at(name);
    if (names.is_string()) theirs.emplace(names.get<std::string>(), tensor);
    for (size_t i = 0; names.is_array() && i < names.size(); ++i) theirs.emplace(names[i].get<std::string>(), tensor);
  }
  return theirs;
}

TEST(NameSource, FairseqsTranslationModelMapsAndMapsBackBitForBit) {
  const TensorMap theirs = fairseq_parameters();
  EXPECT_EQ(recognize_names(theirs), NameSource::fairseq);
  const TensorMap ours = to_our_names(NameSource::fairseq, theirs);
  for (const char* name : {"source_embed.weight", "target_embed.weight", "output.weight", "encoder_norm.bias",
                           "encoder_blocks.1.attn.qkv.weight", "decoder_blocks.0.cross_attn.kv.bias",
                           "decoder_blocks.1.cross_norm.weight", "decoder_blocks.1.mlp.fc1.weight"})
    EXPECT_TRUE(ours.contains(name)) << name;
  for (const auto& [name, tensor] : ours) EXPECT_EQ(name.find("layers."), std::string::npos) << name;
  EXPECT_EQ(recognize_names(ours), NameSource::cachet);
  expect_same(to_their_names(NameSource::fairseq, ours, {}), theirs);
  // A decoder of another version would leave its last norm out.
  EXPECT_EQ(theirs.at("decoder.version").item<float>(), 3);
}

TEST(NameSource, FrequenciesOfTransformerXLAreMadeAgain) {
  const TensorMap weights{{"layers.0.dec_attn.qkv_net.weight", at::zeros({36, 12})}};
  const at::Tensor made = transformer_xl_constants(weights).at("pos_emb.inv_freq");
  ASSERT_EQ(made.sizes(), (std::vector<int64_t>{6}));
  EXPECT_EQ(made.scalar_type(), at::kFloat);
  EXPECT_EQ(made[0].item<float>(), 1);
  EXPECT_NEAR(made[3].item<float>(), 0.01, 1e-8);
  EXPECT_TRUE(transformer_xl_constants({}).empty());
}

TEST(NameSource, UnifiedNormStateLiesInTheRowsOfOurs) {
  const TensorMap theirs = parameters_of("model_t2t_un");
  const TensorMap ours = to_our_names(NameSource::t2t, theirs);
  const at::Tensor& statistics = ours.at("norm.statistics");
  EXPECT_TRUE(at::equal(statistics[0], theirs.at("norm.running_var")));
  EXPECT_TRUE(at::equal(statistics[1], theirs.at("norm.ema_gz")));
  EXPECT_TRUE(at::equal(statistics.narrow(0, 2, 2), theirs.at("norm.buffer_x2")));
  EXPECT_TRUE(at::equal(statistics.narrow(0, 4, 2), theirs.at("norm.buffer_gz")));
  EXPECT_TRUE(at::equal(ours.at("norm.counters").narrow(0, 0, 1), theirs.at("norm.iters")));
}

// The cache of the published layer, once it has run, and the layer in a model with plain attention.
TEST(NameSource, PublishedCacheInPlainAttention) {
  TensorMap theirs{{"blocks.0.attn.gr_cache", at::rand({1, 5, 4})}};
  for (const auto& [name, tensor] : parameters_of("grc_official_mhsa")) theirs.emplace("blocks.0.attn." + name, tensor);
  const TensorMap ours = to_our_names(recognize_names(theirs), theirs);
  EXPECT_TRUE(ours.contains("blocks.0.attn.self_attention.qkv.weight"));
  EXPECT_TRUE(ours.contains("blocks.0.attn.memory_attention.kv.weight"));
  EXPECT_TRUE(ours.contains("blocks.0.attn.cache.tokens"));
  expect_same(to_their_names(NameSource::grc, ours, {}), theirs);
}

// Swin's own file: downsample with the stage before, constants next to the parameters. Windows of 4 in maps of 16
// and 8.
TEST(NameSource, SwinsConstantsAreMadeAgain) {
  TensorMap theirs = to_their_names(NameSource::swin, parameters_of("model_swin"), {32, 32, {}});
  EXPECT_EQ(recognize_names(theirs), NameSource::swin);
  EXPECT_TRUE(theirs.contains("layers.0.downsample.reduction.weight"));
  EXPECT_TRUE(theirs.contains("head.weight"));
  const at::Tensor index = theirs.at("layers.0.blocks.0.attn.relative_position_index");
  EXPECT_EQ(index[0][0].item<int64_t>(), 3 * 7 + 3);  // the middle of the table
  EXPECT_EQ(index[0][15].item<int64_t>(), 0);         // the first token sees the last 3 rows and columns after
  EXPECT_EQ(index[15][0].item<int64_t>(), 48);
  EXPECT_FALSE(theirs.contains("layers.0.blocks.0.attn_mask"));  // not shifted
  const at::Tensor mask = theirs.at("layers.0.blocks.1.attn_mask");
  EXPECT_EQ(mask.sizes(), (std::vector<int64_t>{16, 16, 16}));
  EXPECT_EQ(mask[0].abs().max().item<float>(), 0);
  EXPECT_EQ(mask[15][0][15].item<float>(), -100);
  expect_same(to_our_names(NameSource::swin, theirs), parameters_of("model_swin"));
  // The detection backbone saves the same index.
  const TensorMap detection = parameters_of("model_swin_det");
  const TensorMap made = swin_constants(detection, 64, 64);
  for (const auto& [name, tensor] : made) {
    if (name.ends_with("index")) {
      EXPECT_TRUE(at::equal(tensor, detection.at(name))) << name;
    }
  }
}

TEST(NameSource, WordsNameThem) {
  for (const std::string_view each : name_source_words()) EXPECT_EQ(to_string(*name_source(each)), each);
  EXPECT_FALSE(name_source("keras").has_value());
}

}  // namespace
}  // namespace cachet::io
