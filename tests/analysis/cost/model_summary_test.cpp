#include "cachet/analysis/cost/model_summary.h"

#include <ATen/ops/bmm.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "cachet/config/document.h"
#include "cachet/models/registry.h"
#include "cachet/models/vision/vision_transformer.h"
#include "cachet/nn/attention/token_performer.h"

namespace cachet::analysis {
namespace {

models::ImageClassifierPlan plan(std::string_view name, const std::vector<std::string>& settings = {}) {
  config::Document document;
  for (const std::string& setting : settings) document.set(setting);
  auto made = models::read_image_classifier(name, document.root().table("model"));
  document.finish();
  return made;
}

// The sizes that the closed forms below are made of.
struct Sizes {
  int64_t dim = 192, depth = 12, tokens = 197, patches = 196, patch = 16, channels = 3, hidden = 768, classes = 1000;
};

Products plain(const Sizes& s) {
  const int64_t block = s.tokens * (4 * s.dim * s.dim + 2 * s.dim * s.hidden);
  const int64_t patches = s.patches * s.dim * s.channels * s.patch * s.patch;
  return {s.depth * block + patches + s.dim * s.classes, s.depth * 2 * s.tokens * s.tokens * s.dim};
}

// What memory attention of Dm channels over Tm tokens adds to each block, and what its gates do.
Products memory_of(const Sizes& s, int64_t width, int64_t length) {
  return {s.depth * (2 * s.tokens + 2 * length) * width * width, s.depth * 2 * s.tokens * length * width};
}
int64_t gates_of(const Sizes& s, int64_t width, int64_t length) { return s.depth * 3 * length * 2 * width * width; }

// Trainable feed-forward kernels (arXiv 2211.04076): at most a tenth of the layers, but for three gated layers.
TEST(ModelSummary, TrainedKernelsAddWhatThePaperSays) {
  const auto share = [](std::string_view name, const char* form, int layers) {
    config::Document document;
    document.set("model.attention.kind=kernel");
    document.set(std::string("model.attention.form=") + form);
    if (layers > 0) document.set("model.attention.layers=" + std::to_string(layers));
    const auto made = models::read_model(name, document.root().table("model"));
    document.finish();
    const ModelSummary summary = summarize(made);
    return static_cast<double>(summary.kernel_parameters) / static_cast<double>(summary.block_parameters);
  };
  const std::vector<std::pair<std::string_view, double>> three_gated{
      {"lra_text", 0.125}, {"lra_matching", 0.124}, {"lra_listops", 0.094}};
  for (const auto& [name, published] : three_gated) {
    EXPECT_NEAR(share(name, "glu", 3), published, 0.0006) << name;
    EXPECT_LE(share(name, "linear", 0), 0.1) << name;
    for (const int layers : {1, 2}) {
      EXPECT_LE(share(name, "glu", layers), 0.1) << name;
      EXPECT_LE(share(name, "oglu", layers), 0.1) << name;
    }
    EXPECT_LE(share(name, "aoglu", 3), 0.1) << name;
  }
  EXPECT_EQ(summarize(plan("vit_tiny_patch16_224")).kernel_parameters, 0);
}

TEST(ModelSummary, PlainModelsMeetTheClosedForm) {
  EXPECT_EQ(summarize(plan("vit_tiny_patch16_224")).macs, plain({}));
  const Sizes base{.dim = 768, .hidden = 3072};
  EXPECT_EQ(summarize(plan("vit_base_patch16_224")).macs, plain(base));
  const Sizes small{
      .dim = 96, .depth = 3, .tokens = 17, .patches = 16, .patch = 8, .channels = 1, .hidden = 192, .classes = 10};
  EXPECT_EQ(summarize(plan("vit_tiny_patch16_224",
                           {"model.embed_dim=96", "model.depth=3", "model.image_size=32", "model.patch_size=8",
                            "model.channels=1", "model.mlp_ratio=2", "model.classes=10"}))
                .macs,
            plain(small));
}

struct CachedCase {
  double ratio;
  std::optional<int64_t> length;
};

void PrintTo(const CachedCase& cached, std::ostream* out) {
  *out << 100 * cached.ratio << " %";
  if (cached.length) *out << " of " << *cached.length << " slots";
}

class CachedSummary : public ::testing::TestWithParam<CachedCase> {};

TEST_P(CachedSummary, CountsTheCacheAsPublished) {
  const Sizes s;
  const auto [ratio, length] = GetParam();
  const auto width = static_cast<int64_t>(ratio * static_cast<double>(s.dim));
  const int64_t tm = length.value_or(s.tokens);
  std::vector<std::string> settings{"model.cache.kind=grc", "model.cache.ratio=" + std::to_string(ratio)};
  if (length) settings.push_back("model.cache.length=" + std::to_string(*length));

  Products expected = plain(s);
  expected += memory_of(s, width, tm);
  const auto inference = summarize(plan("vit_tiny_patch16_224", settings), Pass::inference);
  EXPECT_EQ(inference.macs.attention, expected.attention);
  EXPECT_EQ(inference.macs.linear_convolution, expected.linear_convolution);  // a frozen cache runs no gates
  expected.linear_convolution += gates_of(s, width, tm);
  EXPECT_EQ(summarize(plan("vit_tiny_patch16_224", settings)).macs, expected);

  settings.push_back("model.cache.variant=official");
  expected.linear_convolution += s.depth * s.patches * s.dim * (s.dim / width) * 9;
  for (const Pass pass : {Pass::training, Pass::inference})  // the published code always runs its gates
    EXPECT_EQ(summarize(plan("vit_tiny_patch16_224", settings), pass).macs, expected);

  const int64_t cached = 4 * width * width + 4 * width + 3 * (2 * width * width + width) + 3;
  const int64_t published = cached + 2 * width + s.dim * (s.dim / width) * 9 + s.dim;
  EXPECT_EQ(summarize(plan("vit_tiny_patch16_224", settings)).parameters, 5'717'416 + s.depth * published);
  settings.back() = "model.cache.variant=paper";
  EXPECT_EQ(summarize(plan("vit_tiny_patch16_224", settings)).parameters, 5'717'416 + s.depth * cached);
}
INSTANTIATE_TEST_SUITE_P(Options, CachedSummary,
                         ::testing::Values(CachedCase{0.5, {}}, CachedCase{0.25, {}}, CachedCase{1.0, {}},
                                           CachedCase{0.5, 64}),
                         [](const auto& info) {
                           const std::string percent = std::to_string(std::lround(100 * info.param.ratio));
                           return percent + "_percent" + (info.param.length ? "_of_64_slots" : "");
                         });

TEST(ModelSummary, FifoHasNoGates) {
  const Sizes s;
  Products expected = plain(s);
  expected += memory_of(s, 96, s.tokens);
  EXPECT_EQ(summarize(plan("vit_tiny_patch16_224", {"model.cache.kind=fifo"})).macs, expected);
}

// One rule for all kinds: what stands between the projections is attention's, feature maps and hashes among it.
TEST(ModelSummary, AttentionHasAllProductsBetweenTheProjections) {
  // vit_tiny: 12 layers, 197 tokens, 3 heads of 64 channels. Queries and keys go through the feature map, then a sum of
  // 64 × 65 is made of each key and read by each query.
  const int64_t heads = 12 * 3, rows = heads * 2 * 197, square = 64 * 64, sums = 64 * 65;
  struct Kind {
    std::vector<std::string> settings;
    int64_t attention;
  };
  const std::vector<Kind> kinds{
      {{"kind=softmax"}, heads * 2 * 197 * 197 * 64},
      {{"kind=elu"}, rows * sums},
      {{"kind=kernel", "form=linear"}, rows * (square + sums)},
      {{"kind=kernel", "form=orthogonal_linear"}, rows * (square + sums)},
      {{"kind=kernel", "form=glu", "layers=1"}, rows * (2 * square + sums)},
      {{"kind=kernel", "form=glu", "layers=2"}, rows * (4 * square + sums)},
      {{"kind=kernel", "form=glu", "layers=2", "head_wise=false"}, rows * (4 * square + sums)},
      {{"kind=kernel", "form=oglu", "layers=3"}, rows * (6 * square + sums)},
      // The gate is a product of two narrow matrices, multiplied once for each head.
      {{"kind=kernel", "form=aoglu", "layers=1", "gate_rank=8"}, rows * (2 * square + sums) + heads * 64 * 8 * 64},
      {{"kind=kernel", "form=feed_forward", "layers=2"}, rows * (2 * square + sums)},
      {{"kind=kernel", "form=feed_forward", "layers=2", "norm=layer"}, rows * (2 * square + sums)},
      {{"kind=performer", "features=softmax", "feature_count=32"}, rows * (64 * 32 + 32 * 65)},
      {{"kind=performer", "features=relu", "feature_count=32"}, rows * (64 * 32 + 32 * 65)},
  };
  for (const Kind& kind : kinds) {
    std::vector<std::string> settings;
    std::string name;
    for (const std::string& setting : kind.settings) {
      settings.push_back("model.attention." + setting);
      name += setting + ' ';
    }
    for (const Pass pass : {Pass::training, Pass::inference})
      EXPECT_EQ(summarize(plan("vit_tiny_patch16_224", settings), pass).macs,
                (Products{plain({}).linear_convolution, kind.attention}))
          << name;
  }
}

TEST(ModelSummary, RandomFeaturesOfTokensAreAttention) {
  // Five tokens of 8 channels, projected to queries, keys and values of 6; three features of queries and keys.
  const auto performer = std::make_shared<nn::TokenPerformer>(nn::TokenPerformerOptions{.dim = 8, .token_dim = 6});
  performer->eval();
  const at::NoGradGuard no_grad;
  for (const auto dtype : {at::kFloat, at::kDouble, at::kBFloat16}) {
    performer->to(dtype);
    const at::Tensor x = at::randn({1, 5, 8}, dtype);
    const int64_t features = 2 * 5 * 6 * 3, sums = 2 * 5 * 3 * 6, divisor = 5 * 3;
    EXPECT_EQ(summarize(*performer, [&] { return performer->forward(x, x, {}); }).macs,
              (Products{5 * 8 * 18 + 5 * 6 * 6, features + sums + divisor}))
        << dtype;
  }
}

TEST(ModelSummary, BlocksCountTheKeysTheyMeet) {
  const auto attention_of = [](const std::vector<std::string>& settings) {
    return summarize(plan("vit_tiny_patch16_224", settings)).macs.attention;
  };
  // 197 tokens in 13 blocks of 16: the first and the last, of 16 and 5, look at all keys, the others at four blocks.
  EXPECT_EQ(attention_of({"model.attention.kind=bigbird", "model.attention.block_size=16", "model.attention.window=1",
                          "model.attention.random_blocks=1"}),
            12 * 3 * (176 * 4 * 16 + 21 * 197) * 128);
  // Two chunks each, and the hash.
  EXPECT_EQ(
      attention_of({"model.attention.kind=reformer", "model.attention.chunk_size=16", "model.attention.buckets=8"}),
      12 * 3 * 197 * (2 * 16 * 128 + 64 * 4));
  // The class token looks at all, the others at blocks of 32: their own, one on either side, and the class token's.
  EXPECT_EQ(attention_of({"model.attention.kind=local", "model.attention.window=8"}),
            12 * 3 * (197 + 196 * 4 * 32) * 128);
  // Features of queries and keys, and their sums.
  EXPECT_EQ(attention_of({"model.attention.kind=performer", "model.attention.feature_count=32"}),
            12 * 3 * 2 * 197 * (64 * 32 + 32 * 65));
}

TEST(ModelSummary, TheNormCountsNothing) {
  for (const nn::NormRow* kind : nn::norm_kinds())
    EXPECT_EQ(summarize(plan("vit_tiny_patch16_224", {"model.norm.kind=" + kind->name})).macs, plain({})) << kind->name;
}

TEST(ModelSummary, BatchNormBehindPoolingSeesOneToken) {
  const auto pooled = plan("vit_tiny_patch16_224", {"model.norm.kind=batch", "model.pooling=mean"});
  EXPECT_EQ(summarize(pooled).macs, plain({}));
}

TEST(ModelSummary, RowsAddUpAtEveryDepth) {
  const auto model = plan("deit_tiny_distilled_patch16_224",
                          {"model.cache.kind=grc", "model.cache.variant=official", "model.norm.kind=un"});
  const auto whole = summarize(model);
  for (const int64_t depth : {int64_t{0}, int64_t{1}, int64_t{2}, int64_t{3}, kAllDepths}) {
    const auto summary = summarize(model, Pass::training, depth);
    ModelSummary sum;
    std::set<std::string> paths;
    for (const auto& layer : summary.layers) {
      sum.parameters += layer.parameters;
      sum.macs += layer.macs;
      EXPECT_TRUE(paths.insert(layer.path).second) << layer.path;
      EXPECT_LT(std::count(layer.path.begin(), layer.path.end(), '.'), std::max<int64_t>(depth, 1));
    }
    EXPECT_EQ(sum.parameters, whole.parameters);
    EXPECT_EQ(sum.macs, whole.macs);
    EXPECT_EQ(summary.parameters, whole.parameters);
    EXPECT_EQ(summary.macs, whole.macs);
  }
}

const LayerSummary& layer(const ModelSummary& summary, std::string_view path) {
  for (const auto& found : summary.layers)
    if (found.path == path) return found;
  throw std::runtime_error("no row " + std::string(path));
}

TEST(ModelSummary, LayersHaveTheirKindShapeAndProducts) {
  const auto summary = summarize(plan("vit_tiny_patch16_224", {"model.cache.kind=grc"}));
  using Shape = std::vector<int64_t>;
  const auto& patches = layer(summary, "patch_embed.proj");
  EXPECT_EQ(patches.kind, "Conv2d");
  EXPECT_EQ(patches.output_shape, (Shape{1, 192, 14, 14}));
  EXPECT_EQ(patches.parameters, 192 * 3 * 256 + 192);
  const auto& gate = layer(summary, "blocks.3.attn.cache.reset_gate");
  EXPECT_EQ(gate.kind, "Linear");
  EXPECT_EQ(gate.output_shape, (Shape{1, 197, 96}));
  EXPECT_EQ(gate.macs, (Products{197 * 192 * 96, 0}));
  const auto& function = layer(summary, "blocks.3.attn.memory_attention.function");
  EXPECT_EQ(function.kind, "SoftmaxAttention");
  EXPECT_EQ(function.macs, (Products{0, 2 * 197 * 197 * 96}));
  EXPECT_EQ(layer(summary, "blocks.3.attn").output_shape, (Shape{1, 197, 192})) << "tokens, not their heads";
  EXPECT_EQ(layer(summary, "").output_shape, (Shape{1, 1000}));
  EXPECT_EQ(layer(summary, "").kind, "VisionTransformer");
  EXPECT_EQ(layer(summarize(plan("vit_tiny_patch16_224"), Pass::training, 2), "blocks.7").output_shape,
            (Shape{1, 197, 192}));
}

// Neither the heads of an attention, nor the rows of a window's table of biases, nor the weights of a feature map that
// are joined for one product, nor what an output layer gives by an embedding's weights.
TEST(ModelSummary, LayersHaveTheShapeOfWhatTheyGive) {
  using Shape = std::vector<int64_t>;
  struct Case {
    const char* model;
    std::vector<std::string> settings;
    const char* path;
    Shape shape;
  };
  const char* swin = "swin_tiny_patch4_window7_224";
  const std::string grc = "model.cache.kind=grc", kernel = "model.attention.kind=kernel";
  for (const Case& each :
       std::vector<Case>{{swin, {}, "layers.0.blocks.0.attn", {64, 49, 96}},
                         {swin, {grc}, "layers.1.blocks.1.attn", {16, 49, 192}},
                         {swin, {grc}, "layers.1.blocks.1.attn.self_attention", {16, 49, 192}},
                         {swin, {grc, "model.cache.variant=official"}, "layers.1.blocks.1.attn", {16, 49, 192}},
                         {"pvt_tiny", {grc}, "stages.1.blocks.0.attn", {1, 784, 128}},
                         {"pvt_tiny", {grc, "model.cache.ratio=0.25"}, "stages.1.blocks.0.attn", {1, 784, 128}},
                         {"pvt_tiny", {}, "stages.1", {1, 784, 128}},
                         {"vit_tiny_patch16_224", {kernel}, "blocks.0.attn", {1, 197, 192}},
                         {"vit_tiny_patch16_224", {kernel}, "blocks.0.attn.function.features.0", {}},
                         {"transformer_xl_small", {}, "blocks.0.attn", {1, 64, 256}},
                         {"transformer_xl_small", {grc}, "blocks.0.attn.self_attention", {1, 64, 256}},
                         {"transformer_xl_small", {}, "embedding", {1, 64, 256}},
                         {"transformer_xl_small", {}, "output", {64}},
                         {"transformer_translation_small", {}, "source_embed", {1, 512, 256}},
                         {"transformer_translation_small", {grc}, "encoder_blocks.0.attn", {1, 512, 256}}}) {
    config::Document document;
    for (const std::string& setting : each.settings) document.set(setting);
    const auto made = models::read_model(each.model, document.root().table("model"));
    EXPECT_EQ(layer(summarize(made), each.path).output_shape, each.shape) << each.model << ' ' << each.path;
  }
}

// Relative attention has no attention function: its scores are its own, not those of the layer before.
TEST(ModelSummary, EachBlockHasItsOwnAttention) {
  for (const char* cache : {"none", "grc"}) {
    config::Document document;
    for (const std::string& setting :
         {std::string("model.vocabulary=1000"), std::string("model.depth=3"), "model.cache.kind=" + std::string(cache)})
      document.set(setting);
    const auto summary = summarize(models::read_model("transformer_xl_small", document.root().table("model")));
    std::map<std::string, int64_t> by_block;
    for (const LayerSummary& layer : summary.layers)
      if (layer.macs.attention > 0) by_block[layer.path.substr(0, layer.path.find(".attn"))] += layer.macs.attention;
    ASSERT_EQ(by_block.size(), 3U) << cache;
    for (const auto& [block, macs] : by_block) {
      EXPECT_TRUE(block.starts_with("blocks.")) << block;
      EXPECT_EQ(macs, summary.macs.attention / 3) << block << " " << cache;
    }
  }
}

TEST(ModelSummary, RealTensorsGiveTheSameNumbersAndKeepTheirValues) {
  const auto small = plan("vit_tiny_patch16_224", {"model.depth=2", "model.image_size=64", "model.cache.kind=grc"});
  const auto model = small.build();
  model->eval();
  const at::Tensor before = model->named_parameters()["head.weight"].detach().clone();
  at::NoGradGuard no_grad;
  const at::Tensor image = at::randn({1, 3, 64, 64});
  const auto real = summarize(*model, [&] { return model->forward(image); });
  const auto meta = summarize(small, Pass::inference);
  EXPECT_EQ(real.macs, meta.macs);
  EXPECT_EQ(real.parameters, meta.parameters);
  EXPECT_TRUE(before.equal(model->named_parameters()["head.weight"]));
}

// A module whose products are written out, each in another way.
struct WrittenOut : torch::nn::Module {
  WrittenOut() { weight = register_parameter("weight", at::randn({4, 6})); }
  at::Tensor weight;
};

TEST(ModelSummary, AViewOfAWeightIsItsModulesAndActivationsAreAttention) {
  const auto model = std::make_shared<WrittenOut>();
  at::NoGradGuard no_grad;
  const at::Tensor x = at::randn({5, 4}), batch = at::randn({2, 5, 4});
  const auto summary = summarize(*model, [&] {
    at::matmul(x, model->weight.narrow(1, 0, 3));  // 5 · 4 · 3
    at::matmul(model->weight.t(), x.t());          // 6 · 4 · 5
    return at::bmm(batch, batch.transpose(1, 2));  // 2 · 5 · 4 · 5
  });
  EXPECT_EQ(summary.macs, (Products{60 + 120, 200}));
  ASSERT_EQ(summary.layers.size(), 1u);
  EXPECT_EQ(summary.layers[0].parameters, 24);
}

TEST(ModelSummary, AFailingForwardLeavesNothingBehind) {
  const auto model = std::make_shared<WrittenOut>();
  EXPECT_THROW(summarize(*model, []() -> at::Tensor { throw std::runtime_error("no"); }), std::runtime_error);
  EXPECT_EQ(summarize(*model, [&] { return at::matmul(at::randn({5, 4}), model->weight); }).macs, (Products{120, 0}));
}

}  // namespace
}  // namespace cachet::analysis
