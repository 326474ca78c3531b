// Kinds that a program registers stand in the tables like those of the library. The kinds are those of
// examples/own-plug-ins.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "cachet/nn/transformer_block.h"
#include "examples/own-plug-ins/cosine_attention.h"
#include "examples/own-plug-ins/ema_cache.h"
#include "examples/own-plug-ins/scale_norm.h"
#include "tests/support/clone_check.h"

namespace cachet::nn {
namespace {

// A program registers once; the other tests of this one then meet these kinds in the tables, as any program would.
const bool registered = [] {
  register_norm(ScaleNormOptions::kKind);
  register_cache(EmaCacheOptions::kKind);
  register_attention(CosineOptions::kKind);
  return true;
}();

PlugIns read(const std::string& toml, Sessions sessions = Sessions::none) {
  auto document = config::Document::from_text(toml, "recipe.toml");
  const PlugIns plug_ins = read_plug_ins(document.root(), {}, sessions);
  document.finish();
  return plug_ins;
}

constexpr const char* kOwn =
    "norm = {kind = 'scale', eps = 1e-3}\ncache = {kind = 'ema', momentum = 0.5, ratio = 0.25, share_start = 1.0}\n"
    "attention = {kind = 'cosine', temperature = 5.0}";

std::shared_ptr<TransformerBlock> own_block(const PlugIns& plug_ins) {
  return std::make_shared<TransformerBlock>(TransformerBlockOptions{.dim = 8, .num_heads = 2, .tokens = 5}, plug_ins);
}

TEST(OwnPlugIns, AreReadByNameWithKeysOfTheirOwn) {
  ASSERT_TRUE(registered);
  const PlugIns plug_ins = read(kOwn);
  EXPECT_EQ(std::get<ChosenNorm>(plug_ins.norm).kind, "scale");
  EXPECT_EQ(chosen_norm(plug_ins.norm).statistics, NormStatistics::token);
  const auto layer = cached_layer_options(plug_ins.cache);
  ASSERT_TRUE(layer);
  EXPECT_EQ(layer->ratio, 0.25);
  EXPECT_EQ(layer->share_start, 1.0);
  EXPECT_FALSE(layer->pool);
  EXPECT_TRUE(chosen_attention_function(plug_ins.attention.function).traits.takes_bias);
  EXPECT_EQ(why_not_causal(plug_ins.attention.function), "");
  EXPECT_NE(causal_forms().find("cosine"), std::string::npos) << "messages list them";
}

TEST(OwnPlugIns, ProblemsNameTheirKeys) {
  const auto problem = [](const std::string& toml) -> std::string {
    try {
      read(toml);
    } catch (const config::Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(problem("norm = {kind = 'scale', groups = 3}").find("norm.groups"), std::string::npos);
  EXPECT_NE(problem("cache = {kind = 'ema', momentum = 2.0}").find("cache.momentum"), std::string::npos);
  EXPECT_NE(problem("attention = {kind = 'cosin'}").find("did you mean 'cosine'"), std::string::npos);
}

TEST(OwnPlugIns, ANameIsTakenOnce) {
  EXPECT_THROW(register_norm(ScaleNormOptions::kKind), std::invalid_argument);
  EXPECT_THROW(register_norm(LayerNormOptions::kKind), std::invalid_argument);
  EXPECT_THROW(register_cache(EmaCacheOptions::kKind), std::invalid_argument);
  EXPECT_THROW(register_attention(CosineOptions::kKind), std::invalid_argument);
}

TEST(OwnPlugIns, ABlockOfThemTrainsClonesAndFreezes) {
  const auto block = own_block(read(kOwn));
  const at::Tensor x = at::randn({3, 5, 8});
  const auto forward = [&](TransformerBlock& each) { return each.forward(x, AttentionArgs::self({})); };
  for (int64_t step = 0; step < 3; ++step) forward(*block).square().sum().backward();
  for (const auto& parameter : block->named_parameters())
    EXPECT_GT(parameter.value().grad().abs().sum().item<double>(), 0) << parameter.key();
  // The mean of the samples' first channels, averaged over steps: it has moved from zero.
  EXPECT_GT(block->named_buffers()["attn.cache.tokens"].abs().sum().item<double>(), 0);
  block->zero_grad();
  test::expect_clones<TransformerBlock>(block, forward);
  block->eval();
  const at::NoGradGuard no_grad;
  const at::Tensor expected = forward(*block);
  block->freeze_cache();
  for (const FoldedNorm& norm : block->fold_norms()) EXPECT_EQ(norm.outcome, FoldedNorm::Outcome::stays);
  EXPECT_TRUE(at::allclose(forward(*block), expected, 1e-5, 1e-6));  // float32, products of other shapes
}

TEST(OwnPlugIns, SayWhetherTheyAreExported) {
  const auto block = own_block(read(kOwn));
  std::map<std::string, std::string> refused;
  const auto copy = block->clone();
  for (const auto& module : copy->named_modules())
    if (const auto* plug_in = dynamic_cast<const PlugIn*>(module.value().get());
        plug_in && !plug_in->why_not_exported().empty())
      refused[module.key()] = plug_in->why_not_exported();
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_EQ(refused.begin()->first, "attn.cache");
  EXPECT_NE(refused.begin()->second.find("the cache 'ema' does not define how to export it"), std::string::npos);
}

TEST(OwnPlugIns, ModelsMayChooseTheLengthOfTheirCache) {
  const CacheOptions cache = read(kOwn).cache;
  CachedLayerOptions layer = *cached_layer_options(cache);
  layer.length = 7;
  const auto made = make_cache(with_layer(cache, layer), 8, 5, {});
  EXPECT_EQ(made->named_buffers()["tokens"].sizes(), at::IntArrayRef({1, 7, 2}));
}

}  // namespace
}  // namespace cachet::nn
