// What deployment asks of layers: norms that split, layers that absorb affine maps, caches that freeze.

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "cachet/nn/attention/cached_attention.h"
#include "cachet/nn/attention/multi_head_attention.h"
#include "cachet/nn/attention/spatial_reduction_attention.h"
#include "cachet/nn/attention/token_performer.h"
#include "cachet/nn/attention/token_transformer.h"
#include "cachet/nn/attention/window_attention.h"
#include "cachet/nn/layers/depthwise_feed_forward.h"
#include "cachet/nn/transformer_block.h"
#include "tests/support/all_norms.h"
#include "tests/support/refused.h"

namespace cachet {
namespace {

using test::all_norms;
using test::expect_refused;

// Folding is another order of the same sums in float64.
constexpr double kFolded = 1e-12;

nn::Affine random_affine(int64_t channels) {
  return {at::randn({channels}, at::kDouble), at::randn({channels}, at::kDouble)};
}

at::Tensor random_tokens(at::IntArrayRef sizes) { return at::randn(sizes, at::kDouble); }

void expect_folded(const at::Tensor& actual, const at::Tensor& expected, const std::string& what) {
  EXPECT_TRUE(at::allclose(actual, expected, kFolded, kFolded)) << what << ": " << (actual - expected).abs().max();
}

template <class Module>
std::shared_ptr<Module> for_deployment(std::shared_ptr<Module> module) {
  module->to(at::kDouble);
  module->eval();
  const at::NoGradGuard no_grad;
  for (auto& parameter : module->parameters()) parameter.add_(at::randn_like(parameter) / 4);
  return module;
}

TEST(Deployment, EveryNormSplitsIntoACoreAndAnAffineMap) {
  for (const auto& [name, options] : all_norms()) {
    const auto norm = nn::make_norm(options, 6);
    norm->to(at::kDouble);
    for (int64_t step = 0; step < 3; ++step) norm->forward(random_tokens({4, 5, 6}) * 2 + 1);
    for_deployment(norm);
    const at::Tensor x = random_tokens({2, 5, 6});
    const nn::SplitNorm parts = norm->split();
    expect_folded(parts.affine.apply(parts.core->forward(x)), norm->forward(x), name);
    for (const auto& parameter : parts.core->named_parameters())
      EXPECT_TRUE(parameter.value().eq(parameter.key() == "bias" ? 0 : 1).all().item<bool>()) << name;
  }
}

TEST(Deployment, LinearLayersAbsorbAnAffineMapWithOrWithoutABias) {
  for (const bool bias : {true, false}) {
    const auto linear = for_deployment(std::make_shared<nn::Linear>(5, 3, bias));
    const nn::Affine before = random_affine(5);
    const at::Tensor x = random_tokens({2, 4, 5}), expected = linear->forward(before.apply(x));
    linear->fold_affine_before(before);
    expect_folded(linear->forward(x), expected, "linear");
    EXPECT_TRUE(linear->named_parameters().contains("bias"));
    expect_refused([&] { linear->fold_affine_before(random_affine(4)); },
                   "an affine map to fold in must have 5 channels, got 4");
  }
}

TEST(Deployment, AttentionsAndFeedForwardHalvesAbsorbAnAffineMap) {
  const nn::TokenLayout grid{nn::Grid{4, 4}, 0, {}};
  const auto layout = nn::AttentionArgs::self(grid);
  const auto reduced = [](nn::ReductionForm form, int64_t ratio) {
    return std::make_shared<nn::SpatialReductionAttention>(
        nn::MultiHeadOptions{8, 2, {}, nn::Projection::separate},
        nn::SpatialReductionOptions{form, ratio, nn::LayerNormOptions{}});
  };
  nn::AttentionOptions shared;
  shared.function = nn::LshOptions{};
  const std::vector<std::pair<std::string, std::shared_ptr<nn::Attention>>> layers{
      {"fused", std::make_shared<nn::MultiHeadAttention>(nn::MultiHeadOptions{8, 2})},
      {"separate", std::make_shared<nn::MultiHeadAttention>(nn::MultiHeadOptions{8, 2, {}, nn::Projection::separate})},
      {"shared", std::make_shared<nn::MultiHeadAttention>(nn::MultiHeadOptions{8, 2, shared})},
      {"reduced by convolution", reduced(nn::ReductionForm::convolution, 2)},
      {"reduced by pooling", reduced(nn::ReductionForm::pooling, 1)},
      {"reduced by nothing", reduced(nn::ReductionForm::convolution, 1)},
      {"token performer", std::make_shared<nn::TokenPerformer>(nn::TokenPerformerOptions{8, 4})},
      {"token transformer", std::make_shared<nn::TokenTransformer>(nn::TokenTransformerOptions{8, 4, {}})}};
  for (const auto& [name, layer] : layers) {
    for_deployment(layer);
    const nn::Affine before = random_affine(8);
    const at::Tensor x = random_tokens({2, 16, 8}), mapped = before.apply(x);
    const at::Tensor expected = layer->forward(mapped, mapped, layout);
    layer->fold_affine_before(before);
    expect_folded(layer->forward(x, x, layout), expected, name);
  }
  for (const auto& windowed :
       {nn::make_window_attention({8, 2, {}, {}, {nn::Grid{2, 2}, nn::Grid{1, 1}, nn::WindowOrder::shift_then_pad}}),
        nn::make_window_attention({8, 2, {}, {}, {nn::Grid{2, 2}, nn::Grid{1, 1}, nn::WindowOrder::pad_then_shift}})})
    for (const nn::Grid& map : {nn::Grid{3, 3}, nn::Grid{4, 4}}) {
      // Twice: what fills windows beyond the map goes through both.
      for_deployment(windowed);
      const auto inside = nn::AttentionArgs::self({map, 0, {}});
      const nn::Affine first = random_affine(8), second = random_affine(8);
      const at::Tensor x = random_tokens({2, map.tokens(), 8}), mapped = second.apply(first.apply(x));
      const at::Tensor expected = windowed->forward(mapped, mapped, inside);
      windowed->fold_affine_before(second);
      windowed->fold_affine_before(first);
      EXPECT_TRUE(at::allclose(windowed->forward(x, x, inside), expected, 1e-9, 1e-9)) << "windows";
    }
  for (const bool depthwise : {false, true}) {
    const nn::FeedForwardOptions options{8, 12};
    const auto mlp =
        for_deployment(depthwise ? std::make_shared<nn::DepthwiseFeedForward>(options, nn::BeforeDepthwise::nothing)
                                 : std::make_shared<nn::FeedForward>(options));
    const nn::Affine before = random_affine(8);
    const at::Tensor x = random_tokens({2, 16, 8}), expected = mlp->forward(before.apply(x), grid);
    mlp->fold_affine_before(before);
    expect_folded(mlp->forward(x, grid), expected, "feed-forward half");
  }
}

TEST(Deployment, LayersThatCannotAbsorbSayWhy) {
  const auto windows = for_deployment(
      nn::make_window_attention({8, 2, {}, {}, {nn::Grid{2, 2}, nn::Grid{0, 0}, nn::WindowOrder::shift_then_pad}}));
  nn::Affine flat = random_affine(8);
  flat.scale[3] = 0;
  expect_refused([&] { windows->fold_affine_before(flat); },
                 "the fill values outside the map are divided by the scale");

  const auto cached = for_deployment(nn::make_self_attention({8, 2, 4, {}, nn::GatedRecurrentCacheOptions{}}));
  expect_refused([&] { cached->fold_affine_before(random_affine(8)); },
                 "the cache reads the same tokens; call freeze_cache() first");
  const auto fused = for_deployment(std::make_shared<nn::MultiHeadAttention>(nn::MultiHeadOptions{8, 2}));
  expect_refused([&] { fused->fold_affine_into_query(random_affine(8)); }, "queries and keys share a projection");
  const auto reduced = for_deployment(std::make_shared<nn::SpatialReductionAttention>(
      nn::MultiHeadOptions{8, 2, {}, nn::Projection::separate},
      nn::SpatialReductionOptions{nn::ReductionForm::convolution, 2, nn::LayerNormOptions{}}));
  reduced->fold_affine_before(random_affine(8));
  const at::Tensor with_class = random_tokens({2, 5, 8});
  const auto layout = nn::AttentionArgs::self({nn::Grid{2, 2}, 1, {}});
  expect_refused([&] { reduced->forward(with_class, with_class, layout); }, "cannot have class tokens");
}

std::vector<std::pair<std::string, std::shared_ptr<nn::Attention>>> cached_layers() {
  const nn::TokenLayout grid{nn::Grid{4, 4}, 0, {}};
  nn::GatedRecurrentCacheOptions frozen,
      placed = nn::GatedRecurrentCacheOptions::of(nn::GatedRecurrentCacheVariant::official);
  placed.inference = nn::CacheInference::frozen;
  nn::AttentionOptions shared;
  shared.function = nn::LshOptions{};
  const nn::AttentionFactory reduced = [](int64_t dim, nn::Branch) {
    return std::make_shared<nn::SpatialReductionAttention>(
        nn::MultiHeadOptions{dim, 2, {}, nn::Projection::separate},
        nn::SpatialReductionOptions{nn::ReductionForm::convolution, 2, nn::LayerNormOptions{}});
  };
  const nn::WindowSettings windows{nn::Grid{2, 2}, nn::Grid{1, 1}, nn::WindowOrder::shift_then_pad};
  return {{"grc", nn::make_self_attention({8, 2, 16, grid, frozen})},
          {"grc with position", nn::make_self_attention({8, 2, 16, grid, placed})},
          {"grc, shared projections", nn::make_self_attention({8, 2, 16, grid, frozen}, shared)},
          {"grc, reduced", nn::make_self_attention({8, 2, 16, grid, frozen}, reduced)},
          {"fifo", nn::make_self_attention({8, 2, 16, grid, nn::FifoCacheOptions{}})},
          {"concatenated", nn::make_self_attention({8, 2, 16, grid, nn::ConcatenatedCacheOptions{}})},
          {"concatenated, reduced", nn::make_self_attention({8, 2, 16, grid, nn::ConcatenatedCacheOptions{}}, reduced)},
          {"concatenated in windows", nn::make_window_attention({8, 2, {}, nn::ConcatenatedCacheOptions{}, windows})},
          {"grc in windows", nn::make_window_attention({8, 2, {}, frozen, windows})}};
}

TEST(Deployment, AFrozenCacheIsConstantKeysAndValuesWithoutGates) {
  const auto layout = nn::AttentionArgs::self({nn::Grid{4, 4}, 0, {}});
  for (const auto& [name, layer] : cached_layers()) {
    layer->to(at::kDouble);
    for (int64_t step = 0; step < 3; ++step) {
      const at::Tensor x = random_tokens({3, 16, 8});
      layer->forward(x, x, layout);
    }
    for_deployment(layer);
    const at::Tensor x = random_tokens({2, 16, 8}), expected = layer->forward(x, x, layout);
    const auto frozen = layer->freeze_cache();
    expect_folded(frozen->forward(x, x, layout), expected, name);
    for (const auto& parameter : frozen->named_parameters())
      EXPECT_EQ(parameter.key().find("cache"), std::string::npos) << name << ": " << parameter.key();
    const bool concatenated = name.starts_with("concatenated");
    EXPECT_TRUE(frozen->named_buffers().contains(concatenated ? "memory_keys" : "memory_attention.keys")) << name;
    if (name == "grc with position") {
      expect_refused([&] { frozen->fold_affine_before(random_affine(8)); }, "reads zeros beyond the border");
    } else {
      const nn::Affine before = random_affine(8);
      const at::Tensor mapped = before.apply(x), absorbed = frozen->forward(mapped, mapped, layout);
      frozen->fold_affine_before(before);
      expect_folded(frozen->forward(x, x, layout), absorbed, name + ", absorbed");
    }
  }
}

TEST(Deployment, CachesThatMoveInEvaluationSayThatTheyCannotFreeze) {
  nn::GatedRecurrentCacheOptions moving, batch_rows;
  moving.inference = nn::CacheInference::per_sample;
  batch_rows.scope = nn::CacheScope::batch_row;
  const auto freeze = [](const nn::CacheOptions& cache) {
    for_deployment(nn::make_self_attention({8, 2, 4, {}, cache}))->freeze_cache();
  };
  expect_refused([&] { freeze(moving); }, "a copy of the cache is updated");
  expect_refused([&] { freeze(batch_rows); }, "with `scope = \"lane\"`, the cache also changes in evaluation");
  expect_refused([&] { freeze(nn::NoCacheOptions{}); }, "has no cache to freeze");
  const auto training = nn::make_self_attention({8, 2, 4, {}, nn::GatedRecurrentCacheOptions{}});
  expect_refused([&] { training->freeze_cache(); }, "call eval() first");
}

TEST(Deployment, WhatNoNeighbourTakesInIsOneAffineMap) {
  for (const auto& [name, norm] : all_norms()) {
    nn::TransformerBlockOptions options;
    options.dim = 8;
    options.num_heads = 2;
    options.norm_place = nn::NormPlace::after;
    const auto block = std::make_shared<nn::TransformerBlock>(options, nn::PlugIns{{}, {}, norm});
    block->to(at::kDouble);
    for (int64_t step = 0; step < 2; ++step) block->forward(random_tokens({3, 4, 8}), {});
    for_deployment(block);
    const at::Tensor x = random_tokens({3, 4, 8}), expected = block->forward(x, {});
    for (const nn::FoldedNorm& folded : block->fold_norms())
      EXPECT_FALSE(folded.outcome == nn::FoldedNorm::Outcome::core) << name;
    expect_folded(block->forward(x, {}), expected, name);
    EXPECT_EQ(block->named_buffers().contains("norm1.statistics"), name == "pn") << name << " looks at its input";
  }
}

TEST(Deployment, AReductionFoldsItsNormIntoItsNeighbours) {
  const auto layout = nn::AttentionArgs::self({nn::Grid{4, 4}, 0, {}});
  for (const auto& [name, norm] : all_norms())
    for (const auto form : {nn::ReductionForm::convolution, nn::ReductionForm::pooling}) {
      const auto layer = std::make_shared<nn::SpatialReductionAttention>(
          nn::MultiHeadOptions{8, 2, {}, nn::Projection::separate}, nn::SpatialReductionOptions{form, 2, norm});
      layer->to(at::kDouble);
      for (int64_t step = 0; step < 2; ++step) {
        const at::Tensor x = random_tokens({3, 16, 8});
        layer->forward(x, x, layout);
      }
      for_deployment(layer);
      const at::Tensor x = random_tokens({2, 16, 8}), expected = layer->forward(x, x, layout);
      const bool online = test::is_online(norm);
      const auto outcome = !online                                  ? nn::FoldedNorm::Outcome::gone
                           : form == nn::ReductionForm::convolution ? nn::FoldedNorm::Outcome::core
                                                                    : nn::FoldedNorm::Outcome::stays;
      EXPECT_EQ(layer->fold_norms().at(0).outcome, outcome) << name;
      expect_folded(layer->forward(x, x, layout), expected, name);
    }
}

TEST(Deployment, ABlockAbsorbsItsNorms) {
  for (const auto& [name, norm] : all_norms())
    for (const bool cached : {false, true}) {
      nn::TransformerBlockOptions options;
      options.dim = 8;
      options.num_heads = 2;
      options.tokens = 4;
      options.cross_attention = nn::CrossAttentionOptions{6};
      const nn::CacheOptions cache =
          cached ? nn::CacheOptions(nn::GatedRecurrentCacheOptions{}) : nn::CacheOptions(nn::NoCacheOptions{});
      const auto block = std::make_shared<nn::TransformerBlock>(options, nn::PlugIns{{}, cache, norm});
      block->to(at::kDouble);
      const nn::EncoderTokens encoder{random_tokens({3, 5, 6}), {}};
      for (int64_t step = 0; step < 2; ++step) block->forward(random_tokens({3, 4, 8}), {}, encoder);
      for_deployment(block);
      const at::Tensor x = random_tokens({3, 4, 8}), expected = block->forward(x, {}, encoder);
      EXPECT_EQ(block->has_cache(), cached);
      if (cached) {
        const auto copy = std::make_shared<nn::TransformerBlock>(options, nn::PlugIns{{}, cache, norm});
        copy->to(at::kDouble);
        copy->eval();
        const nn::FoldedNorm first = copy->fold_norms().at(0);
        const bool online = test::is_online(norm);
        EXPECT_EQ(first.outcome, online           ? nn::FoldedNorm::Outcome::stays
                                 : name == "none" ? nn::FoldedNorm::Outcome::gone
                                                  : nn::FoldedNorm::Outcome::scale_shift)
            << name;
        EXPECT_TRUE(name == "none" || first.reason.find("cached_attention: cannot fold in") != std::string::npos);
        block->freeze_cache();
      }
      for (const nn::FoldedNorm& folded : block->fold_norms()) {
        const bool online = test::is_online(norm);
        EXPECT_EQ(folded.outcome, online ? nn::FoldedNorm::Outcome::core : nn::FoldedNorm::Outcome::gone)
            << name << ": " << folded.reason;
      }
      expect_folded(block->forward(x, {}, encoder), expected, name);
    }
  nn::TransformerBlockOptions post;
  post.dim = 8;
  post.num_heads = 2;
  post.norm_place = nn::NormPlace::after;
  const auto block = for_deployment(std::make_shared<nn::TransformerBlock>(post, nn::PlugIns{}));
  for (const nn::FoldedNorm& folded : block->fold_norms()) EXPECT_EQ(folded.outcome, nn::FoldedNorm::Outcome::stays);
  post.norm_place = nn::NormPlace::before;
  const auto training = std::make_shared<nn::TransformerBlock>(post, nn::PlugIns{});
  expect_refused([&] { training->fold_norms(); }, "call eval() first");
}

}  // namespace
}  // namespace cachet
