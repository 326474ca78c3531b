#include <gtest/gtest.h>

#include "cachet/nn/transformer_block.h"

namespace cachet {
namespace {

nn::PlugIns read(const std::string& toml, nn::Sessions sessions = nn::Sessions::batch_rows) {
  auto document = config::Document::from_text(toml, "recipe.toml");
  const nn::PlugIns plug_ins = nn::read_plug_ins(document.root(), {}, sessions);
  document.finish();
  return plug_ins;
}

void expect_problem(const std::string& toml, const std::string& text,
                    nn::Sessions sessions = nn::Sessions::batch_rows) {
  try {
    read(toml, sessions);
    FAIL() << "accepted: " << toml;
  } catch (const config::Error& error) {
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
  }
}

TEST(PlugInOptions, DefaultsArePlainAttentionWithLayerNorm) {
  const nn::PlugIns plug_ins = read("");
  EXPECT_TRUE(std::holds_alternative<nn::NoCacheOptions>(plug_ins.cache));
  EXPECT_TRUE(std::holds_alternative<nn::LayerNormOptions>(plug_ins.norm));
  EXPECT_TRUE(std::holds_alternative<nn::SoftmaxOptions>(plug_ins.attention.function));
}

TEST(PlugInOptions, EveryKeyArrives) {
  const nn::PlugIns plug_ins = read(R"(
    [attention]
    kind = "softmax"
    dropout = 0.1
    projection_dropout = 0.2
    qkv_bias = false
    projection_bias = false
    head_dim = 6
    [cache]
    kind = "grc"
    variant = "official"
    ratio = 0.25
    length = 49
    share_start = 0.5
    positional_convolution = false
    scope = "batch_mean"
    attend = "mean"
    inference = "frozen"
    gradient = "carry"
    gates = "half"
    pool = 2
    [norm]
    kind = "un"
    variant = "official"
    window = 5
    backward_window = 3
    momentum = 0.8
    backward_momentum = 0.7
    eps = 1e-4
    warmup = 10
    filter_outliers = false
    forward_mean = "none"
  )");
  EXPECT_EQ(std::get<nn::SoftmaxOptions>(plug_ins.attention.function).dropout, 0.1);
  EXPECT_EQ(plug_ins.attention.projection_dropout, 0.2);
  EXPECT_FALSE(plug_ins.attention.qkv_bias);
  EXPECT_FALSE(plug_ins.attention.projection_bias);
  EXPECT_EQ(plug_ins.attention.head_dim, 6);
  const auto& grc = std::get<nn::GatedRecurrentCacheOptions>(plug_ins.cache);
  EXPECT_EQ(grc.variant, nn::GatedRecurrentCacheVariant::official);
  EXPECT_EQ(grc.ratio, 0.25);
  EXPECT_EQ(grc.length, 49);
  EXPECT_EQ(grc.share_start, 0.5);
  EXPECT_FALSE(grc.positional_convolution);
  EXPECT_EQ(grc.attend, nn::CacheAttend::mean);
  EXPECT_EQ(grc.inference, nn::CacheInference::frozen);
  EXPECT_EQ(grc.gradient, nn::CacheGradient::carry);
  EXPECT_EQ(grc.gates, nn::CacheGates::half);
  EXPECT_EQ(grc.pool, 2);
  const auto& un = std::get<nn::UnifiedNormOptions>(plug_ins.norm);
  EXPECT_EQ(un.variant, nn::UnifiedNormVariant::official);
  EXPECT_EQ(un.settings.forward_window, 5);
  EXPECT_EQ(un.settings.backward_window, 3);
  EXPECT_EQ(un.settings.forward_momentum, 0.8);
  EXPECT_EQ(un.settings.backward_momentum, 0.7);
  EXPECT_EQ(un.settings.eps, 1e-4);
  EXPECT_EQ(un.settings.warmup, 10);
  EXPECT_FALSE(un.settings.filter_outliers);
  EXPECT_EQ(un.settings.forward_mean, ops::WindowMean::none);
}

TEST(PlugInOptions, VariantsBringTheirOwnDefaults) {
  const auto official =
      std::get<nn::GatedRecurrentCacheOptions>(read(R"(cache = {kind = "grc", variant = "official"})").cache);
  EXPECT_EQ(official.share_start, -1.0);
  EXPECT_TRUE(official.positional_convolution);
  EXPECT_EQ(official.attend, nn::CacheAttend::per_sample);
  EXPECT_EQ(official.inference, nn::CacheInference::per_sample);
  const auto paper = std::get<nn::GatedRecurrentCacheOptions>(read(R"(cache = {kind = "grc"})").cache);
  EXPECT_EQ(paper.share_start, 0.0);
  EXPECT_FALSE(paper.positional_convolution);
  EXPECT_EQ(paper.attend, nn::CacheAttend::mean);
  EXPECT_EQ(paper.inference, nn::CacheInference::frozen);
  const auto batch_rows =
      std::get<nn::GatedRecurrentCacheOptions>(read(R"(cache = {kind = "grc", scope = "lane"})").cache);
  EXPECT_EQ(batch_rows.attend, nn::CacheAttend::per_sample);
}

TEST(PlugInOptions, OtherNormsAndKernelsAreRead) {
  const auto threshold = [](const std::string& keys) {
    return std::get<nn::UnifiedNormOptions>(read("norm = {kind = 'un'" + keys + "}").norm).settings.threshold;
  };
  EXPECT_EQ(threshold(""), ops::OutlierThreshold::pooled);
  EXPECT_EQ(threshold(", variant = 'official'"), ops::OutlierThreshold::pooled);
  EXPECT_EQ(threshold(", threshold = 'channel'"), ops::OutlierThreshold::channel);
  const auto mabn = std::get<nn::MovingAverageBatchNormOptions>(
      read(R"(norm = {kind = "mabn", window = 8, momentum = 0.9, eps = 1e-4, warmup = 7})").norm);
  EXPECT_EQ(mabn.window, 8);
  EXPECT_EQ(mabn.momentum, 0.9);
  EXPECT_EQ(mabn.eps, 1e-4);
  EXPECT_EQ(mabn.warmup, 7);
  const auto power = std::get<nn::PowerNormOptions>(
      read(R"(norm = {kind = "pn", group_scaling = false, momentum = 0.8, warmup = 7})").norm);
  EXPECT_FALSE(power.group_scaling);
  EXPECT_EQ(power.settings.forward_momentum, 0.8);
  EXPECT_EQ(power.settings.backward_momentum, 0.8) << "follows the forward one";
  EXPECT_EQ(power.settings.warmup, 7);
  EXPECT_EQ((std::vector{mabn.warmup_percent, power.warmup_percent}), (std::vector{0.0, 0.0}));
  EXPECT_EQ(std::get<nn::UnifiedNormOptions>(read(R"(norm = {kind = "un", warmup = "10 %"})").norm).warmup_percent, 10);
  EXPECT_EQ(std::get<nn::MovingAverageBatchNormOptions>(read(R"(norm = {kind = "mabn", warmup = "2.5 %"})").norm)
                .warmup_percent,
            2.5);
  EXPECT_EQ(std::get<nn::PowerNormOptions>(read(R"(norm = {kind = "pn", warmup = "100 %"})").norm).warmup_percent, 100);

  const auto function = [](const std::string& attention) {
    return read("attention = {" + attention + "}").attention.function;
  };
  EXPECT_EQ(std::get<nn::EluOptions>(function(R"(kind = "elu", eps = 1e-3)")).eps, 1e-3);
  const auto aoglu = std::get<nn::KernelOptions>(
      function(R"(kind = "kernel", form = "aoglu", layers = 3, gate_rank = 5, penalty = 0.5, head_wise = false)"));
  EXPECT_EQ(aoglu.form, nn::KernelForm::low_rank_glu);
  EXPECT_EQ(aoglu.layers, 3);
  EXPECT_EQ(aoglu.gate_rank, 5);
  EXPECT_EQ(aoglu.penalty, 0.5);
  EXPECT_FALSE(aoglu.head_wise);
  const auto stack = std::get<nn::KernelOptions>(
      function(R"(kind = "kernel", form = "feed_forward", layers = 2, activation = "sigmoid", norm = "layer")"));
  EXPECT_EQ(stack.activation, nn::KernelActivation::sigmoid);
  EXPECT_EQ(stack.between, nn::KernelBetween::layer_norm);
}

TEST(PlugInOptions, LongRangeFunctionsAreRead) {
  const auto function = [](const std::string& attention) {
    return read("attention = {" + attention + "}").attention.function;
  };
  const auto performer = std::get<nn::PerformerOptions>(function(
      R"(kind = "performer", features = "relu", feature_count = 256, eps = 0.01, causal_eps = 0.1, redraw_every = 1000)"));
  EXPECT_EQ(performer.form, nn::RandomFeatures::relu);
  EXPECT_EQ(performer.count, 256);
  EXPECT_EQ(performer.eps, 0.01);
  EXPECT_EQ(performer.causal_eps, 0.1);
  EXPECT_EQ(performer.redraw_every, 1000);
  EXPECT_EQ(std::get<nn::PerformerOptions>(function(R"(kind = "performer")")).eps, 1e-4);
  EXPECT_EQ(std::get<nn::PerformerOptions>(function(R"(kind = "performer", features = "relu")")).eps, 1e-3);
  const auto big_bird =
      std::get<nn::BigBirdOptions>(function(R"(kind = "bigbird", block_size = 32, window = 5, random_blocks = 2)"));
  EXPECT_EQ(big_bird.block_size, 32);
  EXPECT_EQ(big_bird.window, 5);
  EXPECT_EQ(big_bird.random_blocks, 2);
  const auto lsh = std::get<nn::LshOptions>(
      function(R"(kind = "reformer", chunk_size = 10, buckets = 12, rounds = 3, score = "scaled")"));
  EXPECT_EQ(lsh.chunk_size, 10);
  EXPECT_EQ(lsh.buckets, 12);
  EXPECT_EQ(lsh.rounds, 3);
  EXPECT_EQ(lsh.score, nn::LshScore::scaled);
  EXPECT_EQ(std::get<nn::LocalOptions>(function(R"(kind = "local", window = 7)")).window, 7);
  const auto pattern_of = [&]<class Options>(const std::string& text, const Options&) {
    return std::get<Options>(function(text)).pattern_length;
  };
  for (const auto& [setting, length] : {std::pair{"", nn::PatternLength::model},
                                        {R"(, pattern_length = "model")", nn::PatternLength::model},
                                        {R"(, pattern_length = "batch")", nn::PatternLength::batch}}) {
    EXPECT_EQ(pattern_of(std::string(R"(kind = "bigbird")") + setting, nn::BigBirdOptions{}), length);
    EXPECT_EQ(pattern_of(std::string(R"(kind = "reformer")") + setting, nn::LshOptions{}), length);
    EXPECT_EQ(pattern_of(std::string(R"(kind = "local")") + setting, nn::LocalOptions{}), length);
  }
}

TEST(PlugInOptions, ProblemsNameKeyAndWhatIsAccepted) {
  expect_problem(R"(cache = {kind = "gcr"})", "grc");
  expect_problem(R"(cache = {kind = "grc", ratio = 0})", "cache.ratio");
  expect_problem(R"(cache = {kind = "grc", ratio = 1.5})", "cache.ratio");
  expect_problem(R"(cache = {kind = "grc", length = 0})", "cache.length");
  expect_problem(R"(cache = {kind = "grc", scope = "lane", attend = "mean"})", "would mix the batch rows");
  for (const char* kind : {"grc", "fifo"})
    expect_problem("cache = {kind = '" + std::string(kind) + "', scope = 'lane'}",
                   "only for models that read texts in segments", nn::Sessions::none);
  for (const char* setting : {"ratio = 0.5", "length = 4", "pool = 2", "share_start = 0.0", "gates = 'half'",
                              "positional_convolution = true", "scope = 'batch_mean'", "variant = 'paper'"}) {
    const std::string key = std::string(setting).substr(0, std::string(setting).find(' '));
    expect_problem("cache = {kind = 'concatenated', " + std::string(setting) + "}",
                   "cache." + key + ": has no effect: a concatenated cache has", nn::Sessions::none);
  }
  for (const char* function : {"elu", "kernel", "performer", "bigbird", "reformer", "local"})
    expect_problem("cache = {kind = 'concatenated'}\nattention = {kind = '" + std::string(function) + "'}",
                   "the memory of Transformer-XL", nn::Sessions::none);
  expect_problem(R"(cache = {kind = "concatenated"})", "the memory of Transformer-XL", nn::Sessions::batch_rows);
  expect_problem(R"(norm = {kind = "un", window = 0})", "norm.window");
  expect_problem(R"(norm = {kind = "un", threshold = "token"})", "norm.threshold");
  expect_problem(R"(norm = {kind = "un", threshold = "channel", filter_outliers = false})",
                 "set filter_outliers = true");
  expect_problem(R"(norm = {kind = "un", threshold = "channel", window = 1})", "set window to 2 or more");
  expect_problem(R"(norm = {kind = "mabn", threshold = "channel"})", "norm.threshold");
  expect_problem(R"(norm = {kind = "layernorm"})", "layer");
  for (const char* kind : {"un", "mabn", "pn"}) {
    const auto expect_refused = [&](const std::string& warmup, const std::string& message) {
      expect_problem("norm = {kind = '" + std::string(kind) + "', warmup = " + warmup + "}", "norm.warmup: " + message);
    };
    const std::string form = "must be an integer, or a fraction of the updates of a run such as \"10 %\", not ";
    for (const char* text : {"10", "10%", "%", " %", "ten %", "10  %", "10 % ", "1e1 %", "nan %", "inf %", "10 steps"})
      expect_refused("'" + std::string(text) + "'", form + "the text \"" + text + "\"");
    expect_refused("0.1", form + "0.1");
    for (const char* text : {"0 %", "-5 %", "120 %", "100.5 %"})
      expect_refused("'" + std::string(text) + "'", "must be above 0 % and at most 100 %, not \"" + std::string(text));
    expect_refused("-1", "must be at least 0");
  }
  expect_problem(R"(norm = {kind = "layer", warmup = 3})", "norm.warmup");
  expect_problem(R"(norm = {kind = "pn", window = 4})", "norm.window");
  expect_problem(R"(attention = {dropout = 1.0})", "attention.dropout");
  expect_problem(R"(attention = {kind = "kernel", form = "linear", layers = 2})", "attention.layers");
  expect_problem(R"(attention = {kind = "kernel", form = "glu", penalty = 1})", "attention.penalty");
  expect_problem(R"(attention = {kind = "kernel", form = "oglu", activation = "gelu"})", "attention.activation");
  expect_problem(R"(attention = {kind = "elu", dropout = 0.1})", "attention.dropout");
  expect_problem(R"(attention = {kind = "bigbrid"})", "did you mean 'bigbird'");
  expect_problem(R"(attention = {kind = "bigbird", block = 64})", "block_size");
  expect_problem(R"(attention = {kind = "bigbird", block_size = 0})", "attention.block_size");
  expect_problem(R"(attention = {kind = "bigbird", window = 4})", "attention.window: must be odd");
  expect_problem(R"(attention = {kind = "bigbird", random_blocks = -1})", "attention.random_blocks");
  expect_problem(R"(attention = {kind = "reformer", buckets = 7})", "attention.buckets: must be even");
  expect_problem(R"(attention = {kind = "reformer", hashes = 2})", "attention.hashes");
  expect_problem(R"(attention = {kind = "reformer", rounds = 0})", "attention.rounds");
  expect_problem(R"(attention = {kind = "reformer", score = "cosine"})", "attention.score");
  expect_problem(R"(attention = {kind = "performer", features = "softmx"})", "softmax");
  expect_problem(R"(attention = {kind = "performer", feature_count = -1})", "attention.feature_count");
  expect_problem(R"(attention = {kind = "local", window = -1})", "attention.window");
  expect_problem(R"(attention = {kind = "local", dropout = 0.1})", "attention.dropout");
}

}  // namespace
}  // namespace cachet
