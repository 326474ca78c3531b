#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cachet/analysis/cost/model_summary.h"
#include "cachet/config/document.h"
#include "cachet/models/registry.h"
#include "tests/support/bytes.h"
#include "tests/support/test_data.h"

/// The products of every registered model, of one sample of its own size. Models that timm has are compared with what
/// fvcore counts in timm's; detectors to fvcore's counts of the same backbone (timm) and of the same neck and heads
/// (torchvision); the others to formulas that are worked out by hand below (tools/make_model_count_fixtures.py).
namespace cachet::analysis {
namespace {

using Counts = std::map<std::string, Products>;

/// How many segments a language model's memory has when a trial begins: a trial is a step in the middle of a run.
constexpr int64_t kMemory = 1;

Products operator+(Products a, const Products& b) { return a += b; }
Products operator*(int64_t times, const Products& a) { return {times * a.linear_convolution, times * a.attention}; }

/// Scores and weighted values of `heads` heads, which have `width` channels together.
int64_t attention(int64_t queries, int64_t keys, int64_t width) { return 2 * queries * keys * width; }

/// A block of self-attention without biases: queries, keys, values and output, then two layers of a feed-forward half.
Products transformer_block(int64_t tokens, int64_t dim, int64_t width, int64_t hidden) {
  return {tokens * (4 * dim * width + 2 * dim * hidden), attention(tokens, tokens, width)};
}

// Long Range Arena: a class token before the sequence, of images half the width in attention; a head of two layers.
void add_long_range(Counts& counts) {
  const auto model = [](int64_t tokens, int64_t dim, int64_t width, int64_t hidden, int64_t depth, int64_t classes) {
    return depth * transformer_block(tokens, dim, width, hidden) + Products{dim * hidden + hidden * classes, 0};
  };
  counts["lra_image"] = model(1024 + 1, 128, 64, 128, 1, 10);
  counts["lra_listops"] = model(2000 + 1, 512, 512, 1024, 4, 10);
  counts["lra_text"] = model(1000 + 1, 256, 256, 1024, 4, 2);
  counts["lra_small"] = model(4000, 64, 64, 128, 2, 2);
  // Two texts without a class token; their first tokens side by side, and a head of three layers.
  counts["lra_matching"] =
      2 * (4 * transformer_block(4000, 128, 128, 512)) + Products{2 * 128 * 512 + 512 * 256 + 256 * 2, 0};
}

// 512 tokens of source and target each, 10,000 words.
void add_translation(Counts& counts) {
  const auto model = [](int64_t dim, int64_t hidden, int64_t depth) {
    constexpr int64_t kTokens = 512, kWords = 10000;
    const Products self = transformer_block(kTokens, dim, dim, hidden),
                   cross{kTokens * 4 * dim * dim, attention(kTokens, kTokens, dim)};
    return depth * (self + self + cross) + Products{kTokens * dim * kWords, 0};
  };
  counts["transformer_iwslt_de_en"] = model(512, 1024, 6);
  counts["transformer_translation_small"] = model(256, 1024, 3);
  counts["transformer_wmt_base"] = model(512, 2048, 6);
  counts["transformer_wmt_big"] = model(1024, 4096, 6);
}

/// Words by rank in clusters, the tables of which are `division` times narrower each.
struct Vocabulary {
  int64_t words, dim;
  std::vector<int64_t> cutoffs;
  int64_t division = 1;

  /// Of `tokens` targets, the n-th word of which has a frequency of about 1/n: the embedding's projections, the head
  /// with a column for each further cluster, and each cluster for its own words.
  Products products(int64_t tokens) const {
    std::vector<int64_t> found(cutoffs.size() + 1), sizes, widths;
    for (int64_t i = 0; i < tokens; ++i) {
      const double share = (static_cast<double>(i) + 0.5) / static_cast<double>(tokens);
      const auto rank = static_cast<int64_t>(std::exp(share * std::log(static_cast<double>(words) + 1)) - 1);
      size_t cluster = 0;
      while (cluster < cutoffs.size() && rank >= cutoffs[cluster]) ++cluster;
      ++found[cluster];
    }
    for (size_t i = 0; i <= cutoffs.size(); ++i) {
      sizes.push_back((i < cutoffs.size() ? cutoffs[i] : words) - (i > 0 ? cutoffs[i - 1] : 0));
      widths.push_back(i == 0 ? dim : widths.back() / division);
    }
    int64_t all = 0;
    for (size_t i = 0; i < sizes.size(); ++i) {
      const int64_t rows = i == 0 ? tokens : found[i], columns = sizes[i] + (i == 0 ? std::ssize(cutoffs) : 0);
      all += rows * columns * widths[i];
      if (division > 1) all += (found[i] + rows) * dim * widths[i];
    }
    return {all, 0};
  }
};

/// A block over `tokens` and a memory of earlier ones. Relative positions are one more map of all keys, and one more
/// score of each pair.
Products language_block(int64_t tokens, int64_t memory, int64_t dim, int64_t hidden, bool relative) {
  const int64_t keys = tokens + memory;
  return {tokens * (2 * dim * dim + 2 * dim * hidden) + keys * (relative ? 3 : 2) * dim * dim,
          (relative ? 3 : 2) * tokens * keys * dim};
}

void add_language(Counts& counts) {
  const Vocabulary small{33278, 256, {4000, 12000}};
  counts["causal_transformer_small"] = 6 * language_block(64, 0, 256, 1024, false) + small.products(64);
  counts["transformer_xl_small"] = 6 * language_block(64, kMemory * 64, 256, 1024, true) + small.products(64);
  const std::vector<int64_t> cutoffs{20000, 40000, 200000};
  counts["transformer_xl_wt103_base"] =
      16 * language_block(150, kMemory * 150, 410, 2100, true) + Vocabulary{267735, 410, cutoffs}.products(150);
  counts["transformer_xl_wt103_large"] =
      18 * language_block(384, kMemory * 384, 1024, 4096, true) + Vocabulary{267735, 1024, cutoffs, 4}.products(384);
}

// Two steps of tokens to tokens, of 56² and 28² tokens with 64 channels, then a ViT with three times as wide halves.
void add_tokens_to_token(Counts& counts) {
  const auto model = [](bool performer, int64_t dim, int64_t depth) {
    constexpr int64_t kWidth = 64, kFeatures = 32;
    Products all{196 * 9 * kWidth * dim + dim * 1000, 0};
    for (const auto& [tokens, channels] : {std::pair<int64_t, int64_t>{56 * 56, 49 * 3}, {28 * 28, 9 * kWidth}}) {
      all += {tokens * (channels * 3 * kWidth + 3 * kWidth * kWidth), 0};
      // A Performer: features of queries and keys; then sums over keys, the queries with them, and their norm.
      if (performer)
        all += {0, tokens * kFeatures * (2 * kWidth + 2 * kWidth + 1)};
      else
        all += {0, attention(tokens, tokens, kWidth)};
    }
    return all + depth * transformer_block(196 + 1, dim, dim, 3 * dim);
  };
  counts["t2t_vit_14"] = model(true, 384, 14);
  counts["t2t_vit_19"] = model(true, 448, 19);
  counts["t2t_vit_24"] = model(true, 512, 24);
  counts["t2t_vit_t_14"] = model(false, 384, 14);
  counts["t2t_vit_t_19"] = model(false, 448, 19);
  counts["t2t_vit_t_24"] = model(false, 512, 24);
}

/// PVT (arXiv 2102.12122): keys and values are of maps that a convolution has reduced. The class token joins in the
/// last stage, of classifiers alone.
Products pyramid(const std::vector<int64_t>& depths, bool classifies) {
  constexpr int64_t kDims[] = {64, 128, 320, 512}, kWider[] = {8, 8, 4, 4}, kReduction[] = {8, 4, 2, 1},
                    kPatch[] = {4, 2, 2, 2};
  Products all;
  int64_t channels = 3;
  for (size_t stage = 0; stage < 4; ++stage) {
    const int64_t dim = kDims[stage], side = 56 >> stage, reduction = kReduction[stage];
    const int64_t tokens = side * side + (classifies && stage == 3 ? 1 : 0);
    const int64_t keys = tokens / (reduction * reduction);
    const int64_t reduced = reduction > 1 ? side * side * dim * dim : 0;
    all += {side * side * channels * dim * kPatch[stage] * kPatch[stage], 0};
    all += depths[stage] * Products{2 * (tokens + keys) * dim * dim + 2 * tokens * dim * kWider[stage] * dim + reduced,
                                    attention(tokens, keys, dim)};
    channels = dim;
  }
  return all + Products{classifies ? 512 * 1000 : 0, 0};
}

const std::map<std::string, std::vector<int64_t>> kPyramids{{"pvt_tiny", {2, 2, 2, 2}},
                                                            {"pvt_small", {3, 4, 6, 3}},
                                                            {"pvt_medium", {3, 4, 18, 3}},
                                                            {"pvt_large", {3, 8, 27, 3}}};

class ModelCounts : public testing::Test {
 protected:
  /// By kind and name: "classifiers", "vit_tiny_patch16_224".
  Products recorded(const std::string& kind, const std::string& name) const {
    const nlohmann::json& counts = recorded_.at(kind).at(name);
    return {counts.at("linear_convolution"), counts.at("attention")};
  }

  void add_recorded(Counts& counts) const {
    for (const auto& [name, each] : recorded_.at("classifiers").items()) counts[name] = recorded("classifiers", name);
  }

  void add_detectors(Counts& counts) const {
    struct Backbone {
      std::string name;
      Products products;
      std::string channels;
    };
    std::vector<Backbone> backbones;
    for (const auto& [name, depths] : kPyramids) backbones.push_back({name, pyramid(depths, false), "64-128-320-512"});
    for (const char* size : {"b0", "b1", "b2", "b2_li", "b3", "b4", "b5"}) {
      const std::string name = std::string("pvt_v2_") + size;
      backbones.push_back(
          {name, recorded("backbones", name), name == "pvt_v2_b0" ? "32-64-160-256" : "64-128-320-512"});
    }
    for (const char* size : {"tiny", "small", "base"})
      backbones.push_back({std::string("swin_") + size[0],
                           recorded("backbones", "swin_" + std::string(size) + "_patch4_window7_224"),
                           size[0] == 'b' ? "128-256-512-1024" : "96-192-384-768"});
    // 1,000 boxes, each with a score of 80 classes and of none, and with four numbers of each class; 100 masks.
    const Products boxes = 1000 * (recorded("heads", "box") + Products{1024 * (80 + 1 + 4 * 80), 0}),
                   masks = 100 * recorded("heads", "mask"), regions = recorded("heads", "rpn") + boxes;
    for (const auto& [name, products, channels] : backbones) {
      const Products two_stages = products + recorded("necks", channels + " P2 to P6") + regions;
      counts["faster_rcnn_" + name + "_fpn"] = two_stages;
      counts["mask_rcnn_" + name + "_fpn"] = two_stages + masks;
      counts["retinanet_" + name + "_fpn"] =
          products + recorded("necks", channels + " P3 to P7") + recorded("heads", "retinanet");
    }
  }

  Counts expected() const {
    Counts counts;
    add_recorded(counts);
    for (const auto& [name, depths] : kPyramids) counts[name] = pyramid(depths, true);
    add_tokens_to_token(counts);
    add_long_range(counts);
    add_translation(counts);
    add_language(counts);
    add_detectors(counts);
    return counts;
  }

 private:
  nlohmann::json recorded_ = nlohmann::json::parse(test::read_bytes(test::test_data() + "/model_counts.json"));
};

Products counted(const std::string& name) {
  config::Document document;
  const models::ModelPlan plan = models::read_model(name, document.root());
  document.finish();
  return summarize(plan, Pass::training, 0).macs;
}

TEST_F(ModelCounts, OfEveryNameAreThoseOfPublishedModelsOrFormulas) {
  const Counts expected = this->expected();
  for (const std::string& name : models::model_names()) {
    ASSERT_TRUE(expected.contains(name)) << name << ": what does it multiply? Add a count.";
    const Products found = counted(name), wanted = expected.at(name);
    EXPECT_EQ(found, wanted) << name << ": " << found.linear_convolution << " and " << found.attention << ", not "
                             << wanted.linear_convolution << " and " << wanted.attention;
  }
  EXPECT_EQ(expected.size(), models::model_names().size()) << "a count is of no model";
}

}  // namespace
}  // namespace cachet::analysis
