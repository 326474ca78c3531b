#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "cachet/io/tensors/names/published_names.h"
#include "cachet/io/tensors/state_dict.h"
#include "cachet/nn/attention/cached_attention.h"
#include "cachet/nn/attention/spatial_reduction_attention.h"
#include "tests/support/oracle.h"

namespace cachet {
namespace {

using test::Comparison;
using test::Oracle;

bool is_official(const Oracle& oracle) { return oracle.name.starts_with("grc_official"); }
bool is_fifo(const Oracle& oracle) { return oracle.name.starts_with("grc_fifo"); }

bool reduces(const Oracle& oracle) { return oracle.metadata.value("attention", "mhsa") == "sra"; }

nn::CacheOptions cache_options_of(const Oracle& oracle) {
  const auto common = [&](auto& o) {
    o.ratio = oracle.real("ratio");
    // The published layer takes the length of its first batch; a fixture of the paper's form has it.
    if (!reduces(oracle)) o.length = is_official(oracle) ? oracle.step(0, "x").size(1) : oracle.integer("tm");
    o.positional_convolution = oracle.flag("spatial_pos_emb");
    if (oracle.metadata.value("cache_scope", "") == "lane") o.scope = nn::CacheScope::batch_row;
  };
  if (is_fifo(oracle)) {
    nn::FifoCacheOptions fifo;
    common(fifo);
    return fifo;
  }
  auto grc = nn::GatedRecurrentCacheOptions::of(is_official(oracle) ? nn::GatedRecurrentCacheVariant::official
                                                                    : nn::GatedRecurrentCacheVariant::paper);
  grc.attend = nn::CacheAttend::per_sample;
  grc.gradient = nn::CacheGradient::detached;
  common(grc);
  return grc;
}

std::shared_ptr<nn::Attention> make_layer(const Oracle& oracle, const nn::CacheOptions& cache) {
  nn::AttentionOptions attention;
  attention.qkv_bias = oracle.flag("qkv_bias");
  nn::CachedAttentionOptions options;
  options.dim = oracle.integer("dim");
  options.num_heads = oracle.integer("heads");
  options.tokens = 1;
  options.cache = cache;
  if (reduces(oracle)) {
    const auto& grid = oracle.metadata.at("hw")[0];
    options.layout.grid = nn::Grid{grid[0], grid[1]};
    nn::SpatialReductionOptions reduction;
    reduction.ratio = oracle.integer("sr_ratio");
    return nn::make_self_attention(options, [&](int64_t dim, nn::Branch) {
      return std::make_shared<nn::SpatialReductionAttention>(
          nn::MultiHeadOptions{dim, options.num_heads, attention, nn::Projection::separate}, reduction);
    });
  }
  return nn::make_self_attention(options, attention);
}

// Names of the published layer to ours. Fixtures of the paper's form concatenate [tokens, cache]; the layer has the
// published order [cache, tokens] in both, so the halves of their gates are swapped.
io::TensorMap to_our_names(const Oracle& oracle, const io::TensorMap& tensors) {
  const io::NameMap map = reduces(oracle) ? io::published_grc_spatial_reduction() : io::published_grc();
  io::TensorMap named = map.apply(tensors).tensors;
  if (is_official(oracle)) return named;
  for (const char* gate : {"cache.reset_gate.weight", "cache.update_gate.weight", "cache.candidate.weight"})
    if (const auto found = named.find(gate); found != named.end()) {
      const auto halves = found->second.chunk(2, 1);
      found->second = at::cat({halves[1], halves[0]}, 1);
    }
  return named;
}

void load_start(nn::Attention& layer, const Oracle& oracle) {
  layer.to(at::kDouble);
  io::TensorMap start = to_our_names(oracle, oracle.below("param."));
  start.merge(to_our_names(oracle, oracle.below("buffer.")));
  io::LoadPolicy policy;
  policy.allow_missing = true;  // the cache starts as zeros where the fixture does not give it
  const auto report = io::load_state_dict(layer, start, policy);
  for (const auto& name : report.missing) ASSERT_EQ(name, "cache.tokens");
}

nn::AttentionArgs args_of(const Oracle& oracle, const at::Tensor& x, const std::string& step) {
  nn::TokenLayout tokens;
  if (oracle.flag("spatial_pos_emb")) {
    tokens.class_tokens = oracle.integer("cls_dim");
    const auto side = static_cast<int64_t>(std::lround(std::sqrt(x.size(1) - tokens.class_tokens)));
    tokens.grid = nn::Grid{side, side};
  }
  if (oracle.has(step + "lengths"))
    tokens.padding = at::arange(x.size(1)).unsqueeze(0) >= oracle[step + "lengths"].unsqueeze(1);
  nn::AttentionArgs args = nn::AttentionArgs::self(tokens);
  args.causal = oracle.flag("causal");
  return args;
}

void compare_gradients(const torch::nn::Module& layer, const Oracle& oracle, const std::string& prefix,
                       Comparison& compare) {
  for (const auto& [name, expected] : to_our_names(oracle, oracle.below(prefix))) {
    const at::Tensor grad = layer.named_parameters().find(name)->grad();
    compare.close(grad.defined() ? grad : at::zeros_like(expected), expected, prefix + name);
  }
}

at::Tensor stored_cache(const nn::Attention& layer, const nn::AttentionState& state) {
  const auto batch_rows = state.named_tensors();
  if (const auto batch_row = batch_rows.find("cache/cache"); batch_row != batch_rows.end()) return batch_row->second;
  return layer.named_buffers()["cache.tokens"];
}

class CachedAttentionOracle : public ::testing::TestWithParam<std::string> {};

void expect_steps_reproduced(const Oracle& oracle, at::ScalarType dtype) {
  Comparison compare(oracle.name, dtype == at::kFloat ? Comparison::kFloat32 : Comparison::kFloat64);
  const auto layer = make_layer(oracle, cache_options_of(oracle));
  load_start(*layer, oracle);
  layer->to(dtype);
  const auto state = layer->make_state(oracle.step(0, "x").size(0), nn::SessionUse::segments);

  for (int64_t i = 0; i < oracle.integer("steps"); ++i) {
    const std::string step = "step" + std::to_string(i) + ".";
    layer->train(i < oracle.integer("train_steps"));
    layer->zero_grad();
    const at::Tensor x = oracle.step(i, "x").to(dtype).requires_grad_();
    nn::AttentionArgs args = args_of(oracle, x, step);
    args.state = oracle.metadata.value("cache_scope", "") == "lane" ? state.get() : nullptr;
    at::Tensor memory;
    const nn::Observation observation(*layer, [&](const std::string&, nn::Signal signal, const at::Tensor& value) {
      if (signal == nn::Signal::memory_tokens) memory = value;
    });
    const at::Tensor y = layer->forward(x, x, args);
    (y * oracle.step(i, "dy")).sum().backward();
    if (oracle.has(step + "cache_sample")) compare.close(memory, oracle[step + "cache_sample"], step + "cache_sample");
    compare.close(y, oracle.step(i, "y"), step + "y");
    compare.close(x.grad(), oracle.step(i, "dx"), step + "dx");
    compare.close(stored_cache(*layer, *state), oracle.step(i, "cache"), step + "cache");
    compare_gradients(*layer, oracle, step + "grad.", compare);
  }
}

TEST_P(CachedAttentionOracle, EveryStepIsReproduced) {
  expect_steps_reproduced(test::load_oracle(GetParam()), at::kDouble);
}

TEST_P(CachedAttentionOracle, FusedOperatorsReproduceThemToo) {
  expect_steps_reproduced(test::load_oracle(GetParam()), at::kFloat);
}

INSTANTIATE_TEST_SUITE_P(Fixtures, CachedAttentionOracle, ::testing::ValuesIn(test::oracles({"grc_"})),
                         [](const auto& info) { return info.param; });

// The training segments as one graph: what gates learn when the cache carries its graph from segment to segment.
class CausalCacheOracle : public ::testing::TestWithParam<std::string> {};

TEST_P(CausalCacheOracle, GradientsAreCarriedThroughSegments) {
  const Oracle oracle = test::load_oracle(GetParam());
  Comparison compare(oracle.name + " bptt");
  auto options = std::get<nn::GatedRecurrentCacheOptions>(cache_options_of(oracle));
  options.gradient = nn::CacheGradient::carry;
  const auto layer = make_layer(oracle, options);
  load_start(*layer, oracle);
  const auto state = layer->make_state(oracle.step(0, "x").size(0), nn::SessionUse::segments);
  std::vector<at::Tensor> inputs;
  at::Tensor loss;
  for (int64_t i = 0; i < oracle.integer("train_steps"); ++i) {
    inputs.push_back(oracle.step(i, "x").requires_grad_());
    nn::AttentionArgs args = args_of(oracle, inputs.back(), "");
    args.state = state.get();
    const at::Tensor part = (layer->forward(inputs.back(), inputs.back(), args) * oracle.step(i, "dy")).sum();
    loss = loss.defined() ? loss + part : part;
  }
  loss.backward();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string key = "bptt.step" + std::to_string(i) + ".dx";
    compare.close(inputs[i].grad(), oracle[key], key);
  }
  compare_gradients(*layer, oracle, "bptt.grad.", compare);
}

TEST_P(CausalCacheOracle, TheFutureDoesNotLeak) {
  const Oracle oracle = test::load_oracle(GetParam());
  Comparison compare(oracle.name + " noleak");
  const int64_t position = oracle.integer("noleak_position");
  at::Tensor outputs[2];
  for (const bool changed : {false, true}) {
    const std::string suffix = changed ? "_changed" : "";
    const auto layer = make_layer(oracle, cache_options_of(oracle));
    load_start(*layer, oracle);
    {
      at::NoGradGuard no_grad;
      layer->named_buffers()["cache.tokens"].copy_(oracle["noleak.cache_before"]);
    }
    const at::Tensor x = oracle["noleak.x" + suffix];
    const at::Tensor y = layer->forward(x, x, args_of(oracle, x, ""));
    compare.close(y, oracle["noleak.y" + suffix], "y" + suffix);
    compare.close(layer->named_buffers()["cache.tokens"], oracle["noleak.cache" + suffix], "cache" + suffix);
    outputs[changed] = y.slice(1, 0, position);
  }
  EXPECT_TRUE(at::equal(outputs[0], outputs[1]));
}

INSTANTIATE_TEST_SUITE_P(Fixtures, CausalCacheOracle,
                         ::testing::ValuesIn(test::oracles_where(
                             {"grc_"}, [](const Oracle& o) { return o.metadata.contains("noleak_position"); })),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace cachet
