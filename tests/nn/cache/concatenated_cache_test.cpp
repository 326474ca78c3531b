// Layers with a concatenated cache against a module in float64 that is written here on its own.
#include "cachet/nn/cache/concatenated_cache.h"

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cachet/nn/attention/cached_attention.h"
#include "cachet/nn/attention/multi_head_attention.h"
#include "cachet/nn/attention/spatial_reduction_attention.h"
#include "cachet/nn/attention/window_attention.h"
#include "cachet/nn/cache/reset_caches.h"
#include "tests/support/device_reads.h"
#include "tests/support/refused.h"

namespace cachet {
namespace {

using test::expect_refused;
using Parameters = std::map<std::string, at::Tensor>;

constexpr int64_t kTwinDim = 8, kTwinHeads = 2, kTwinSide = 4;
constexpr double kTwinRate = 0.1;
constexpr double kTwinTolerance = 1e-12;  // another order of the same sums in float64

// --- the module that is written on its own

at::Tensor projected(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  return at::matmul(x, weight.t()) + bias;
}

struct Projections {
  at::Tensor query_weight, query_bias, key_weight, key_bias, value_weight, value_bias;
};

Projections projections_of(const Parameters& p) {
  const int64_t d = kTwinDim;
  const auto rows = [](const at::Tensor& x, int64_t from, int64_t to) { return x.slice(0, from, to); };
  if (p.contains("qkv.weight")) {
    const at::Tensor &w = p.at("qkv.weight"), &b = p.at("qkv.bias");
    return {rows(w, 0, d),     rows(b, 0, d),         rows(w, d, 2 * d),
            rows(b, d, 2 * d), rows(w, 2 * d, 3 * d), rows(b, 2 * d, 3 * d)};
  }
  const at::Tensor &w = p.at("kv.weight"), &b = p.at("kv.bias");
  return {p.at("q.weight"), p.at("q.bias"), rows(w, 0, d), rows(b, 0, d), rows(w, d, 2 * d), rows(b, d, 2 * d)};
}

// query (B, Lq, D), context (B, L, D), memory (L, D) or undefined, bias (B or 1, H, Lq, L) or undefined.
at::Tensor twin_attention(const Parameters& p, const at::Tensor& query, const at::Tensor& context,
                          const at::Tensor& memory, const at::Tensor& bias) {
  const Projections to = projections_of(p);
  const int64_t width = kTwinDim / kTwinHeads;
  std::vector<at::Tensor> samples;
  for (int64_t b = 0; b < query.size(0); ++b) {
    at::Tensor keys = projected(context[b], to.key_weight, to.key_bias),
               values = projected(context[b], to.value_weight, to.value_bias);
    if (memory.defined()) {
      keys = at::cat({keys, projected(memory, to.key_weight, to.key_bias)});
      values = at::cat({values, projected(memory, to.value_weight, to.value_bias)});
    }
    const at::Tensor queries = projected(query[b], to.query_weight, to.query_bias);
    std::vector<at::Tensor> heads;
    for (int64_t h = 0; h < kTwinHeads; ++h) {
      const auto of = [&](const at::Tensor& x) { return x.slice(1, h * width, (h + 1) * width); };
      at::Tensor scores = at::matmul(of(queries), of(keys).t()) / std::sqrt(static_cast<double>(width));
      if (bias.defined()) {
        const at::Tensor own = scores.slice(1, 0, context.size(1)) + bias[bias.size(0) == 1 ? 0 : b][h];
        scores = at::cat({own, scores.slice(1, context.size(1))}, 1);
      }
      const at::Tensor exponentials = scores.exp();
      heads.push_back(at::matmul(exponentials / exponentials.sum(1, true), of(values)));
    }
    samples.push_back(projected(at::cat(heads, 1), p.at("proj.weight"), p.at("proj.bias")));
  }
  return at::stack(samples);
}

at::Tensor layer_norm_of(const Parameters& p, const at::Tensor& x) {
  const at::Tensor centred = x - x.mean(-1, true);
  return centred / (centred.square().mean(-1, true) + 1e-5).sqrt() * p.at("norm.weight") + p.at("norm.bias");
}

// Tokens of a map, one convolution of each 2 x 2 of them, and the class token, before a norm.
at::Tensor reduced_by_two(const Parameters& p, const at::Tensor& x, int64_t class_tokens) {
  std::vector<at::Tensor> tokens;
  for (int64_t i = 0; i < class_tokens; ++i) tokens.push_back(x.select(1, i));
  const at::Tensor& weight = p.at("sr.weight");
  for (int64_t y = 0; y < kTwinSide; y += 2)
    for (int64_t column = 0; column < kTwinSide; column += 2) {
      at::Tensor sum = p.at("sr.bias").expand({x.size(0), -1});
      for (int64_t i = 0; i < 2; ++i)
        for (int64_t j = 0; j < 2; ++j)
          sum = sum + at::matmul(x.select(1, class_tokens + (y + i) * kTwinSide + column + j),
                                 weight.select(3, j).select(2, i).t());
      tokens.push_back(sum);
    }
  return layer_norm_of(p, at::stack(tokens, 1));
}

// Windows of 2 x 2 of a map that is moved up and left by `shift`: the position in the map of each token of each window.
std::vector<std::vector<int64_t>> window_positions(int64_t shift) {
  std::vector<std::vector<int64_t>> windows;
  for (int64_t top = 0; top < kTwinSide; top += 2)
    for (int64_t left = 0; left < kTwinSide; left += 2) {
      windows.emplace_back();
      for (int64_t y = top; y < top + 2; ++y)
        for (int64_t x = left; x < left + 2; ++x)
          windows.back().push_back((y + shift) % kTwinSide * kTwinSide + (x + shift) % kTwinSide);
    }
  return windows;
}

at::Tensor cut(const at::Tensor& x, int64_t shift) {
  std::vector<at::Tensor> windows;
  for (int64_t b = 0; b < x.size(0); ++b)
    for (const auto& positions : window_positions(shift))
      windows.push_back(x[b].index_select(0, at::tensor(positions)));
  return at::stack(windows);
}

at::Tensor put_together(const at::Tensor& windows, int64_t shift) {
  const auto all = window_positions(shift);
  const auto count = static_cast<int64_t>(all.size());
  std::vector<at::Tensor> samples;
  for (int64_t b = 0; b < windows.size(0) / count; ++b) {
    std::vector<at::Tensor> tokens(static_cast<size_t>(kTwinSide * kTwinSide));
    for (int64_t w = 0; w < count; ++w)
      for (size_t i = 0; i < all[static_cast<size_t>(w)].size(); ++i)
        tokens[static_cast<size_t>(all[static_cast<size_t>(w)][i])] = windows[b * count + w][static_cast<int64_t>(i)];
    samples.push_back(at::stack(tokens));
  }
  return at::stack(samples);
}

// The bias for each offset, and −∞ between tokens that only the shift brought together: of which one side wrapped.
at::Tensor window_bias(const Parameters& p, int64_t shift, int64_t samples) {
  const auto wraps = [&](int64_t place, int64_t other) {
    return (place / kTwinSide < shift) != (other / kTwinSide < shift) ||
           (place % kTwinSide < shift) != (other % kTwinSide < shift);
  };
  const at::Tensor& table = p.at("relative_position_bias_table");
  std::vector<at::Tensor> windows;
  for (const auto& positions : window_positions(shift)) {
    std::vector<at::Tensor> rows;
    for (int64_t q = 0; q < 4; ++q)
      for (int64_t k = 0; k < 4; ++k) {
        const at::Tensor bias = table[(q / 2 - k / 2 + 1) * 3 + (q % 2 - k % 2 + 1)];
        const bool apart = wraps(positions[static_cast<size_t>(q)], positions[static_cast<size_t>(k)]);
        rows.push_back(apart ? bias - std::numeric_limits<double>::infinity() : bias);
      }
    windows.push_back(at::stack(rows).view({4, 4, kTwinHeads}).permute({2, 0, 1}));
  }
  return at::stack(windows).repeat({samples, 1, 1, 1});
}

// --- the layers

struct TwinCase {
  std::string name;
  std::function<std::shared_ptr<nn::Attention>(const nn::CacheOptions& cache)> make;
  nn::TokenLayout layout;
  int64_t entries;
  /// What keys and values are projected from, (B', L, D).
  std::function<at::Tensor(const Parameters& p, const at::Tensor& x)> context;
  std::function<at::Tensor(const Parameters& p, const at::Tensor& x, const at::Tensor& memory)> forward;

  int64_t tokens() const { return layout.class_tokens + layout.grid->tokens(); }
};

std::vector<TwinCase> twin_cases() {
  const auto map = [](int64_t class_tokens) {
    return nn::TokenLayout{nn::Grid{kTwinSide, kTwinSide}, class_tokens, {}};
  };
  const auto itself = [](const Parameters&, const at::Tensor& x) { return x; };
  std::vector<TwinCase> all;
  for (const int64_t class_tokens : {0, 1}) {
    const nn::TokenLayout layout = map(class_tokens);
    const int64_t tokens = class_tokens + layout.grid->tokens();
    const std::string with = class_tokens > 0 ? ", class token" : "";
    all.push_back({"fused" + with,
                   [=](const nn::CacheOptions& cache) {
                     return nn::make_self_attention({kTwinDim, kTwinHeads, tokens, layout, cache});
                   },
                   layout, tokens, itself,
                   [](const Parameters& p, const at::Tensor& x, const at::Tensor& memory) {
                     return twin_attention(p, x, x, memory, {});
                   }});
    for (const int64_t ratio : {1, 2}) {
      const auto context = [=](const Parameters& p, const at::Tensor& x) {
        return ratio == 1 ? x : reduced_by_two(p, x, class_tokens);
      };
      all.push_back({"reduced by " + std::to_string(ratio) + with,
                     [=](const nn::CacheOptions& cache) {
                       return nn::make_self_attention(
                           {kTwinDim, kTwinHeads, tokens, layout, cache}, [&](int64_t dim, nn::Branch) {
                             return std::make_shared<nn::SpatialReductionAttention>(
                                 nn::MultiHeadOptions{dim, kTwinHeads, {}, nn::Projection::separate},
                                 nn::SpatialReductionOptions{nn::ReductionForm::convolution, ratio, {}});
                           });
                     },
                     layout, ratio == 1 ? tokens : class_tokens + 4, context,
                     [=](const Parameters& p, const at::Tensor& x, const at::Tensor& memory) {
                       return twin_attention(p, x, context(p, x), memory, {});
                     }});
    }
  }
  for (const int64_t shift : {0, 1})
    all.push_back({"windows, shift " + std::to_string(shift),
                   [=](const nn::CacheOptions& cache) {
                     return nn::make_window_attention(
                         {kTwinDim,
                          kTwinHeads,
                          {},
                          cache,
                          {nn::Grid{2, 2}, nn::Grid{shift, shift}, nn::WindowOrder::shift_then_pad}});
                   },
                   map(0), 4, [=](const Parameters&, const at::Tensor& x) { return cut(x, shift); },
                   [=](const Parameters& p, const at::Tensor& x, const at::Tensor& memory) {
                     const at::Tensor inside = cut(x, shift);
                     return put_together(twin_attention(p, inside, inside, memory, window_bias(p, shift, x.size(0))),
                                         shift);
                   }});
  return all;
}

std::shared_ptr<nn::Attention> made(const TwinCase& of, const nn::CacheOptions& cache, at::ScalarType type) {
  at::manual_seed(3);
  const auto layer = of.make(cache);
  const at::NoGradGuard no_grad;
  for (at::Tensor& parameter : layer->parameters()) parameter.add_(at::randn_like(parameter) / 2);
  layer->to(type);
  return layer;
}

Parameters parameters_of(const nn::Attention& layer) {
  Parameters copies;
  for (const auto& item : layer.named_parameters())
    copies.emplace(item.key(), item.value().detach().clone().requires_grad_());
  return copies;
}

void expect_equal_to(const at::Tensor& found, const at::Tensor& expected, const std::string& what) {
  EXPECT_TRUE(at::allclose(found, expected, kTwinTolerance, kTwinTolerance))
      << what << ": " << (found - expected).abs().max().item<double>();
}

at::Tensor stored_in(const nn::Attention& layer) { return layer.named_buffers()["cache.tokens"]; }

at::Tensor call(nn::Attention& layer, const at::Tensor& x, const TwinCase& of) {
  return layer.forward(x, x, nn::AttentionArgs::self(of.layout));
}

// A step of training of both: results, gradients and what is stored; then both take a step downhill.
void expect_same_step(nn::Attention& layer, const TwinCase& of, Parameters& twin, at::Tensor& memory, int64_t samples,
                      const std::string& what) {
  const at::Tensor x = at::randn({samples, of.tokens(), kTwinDim}, at::kDouble), weight = at::randn_like(x) / x.numel();
  const at::Tensor input = x.clone().requires_grad_(), twin_input = x.clone().requires_grad_();
  layer.zero_grad();
  const at::Tensor y = call(layer, input, of), expected = of.forward(twin, twin_input, memory);
  expect_equal_to(y, expected, what + ", output");
  (y * weight).sum().backward();
  (expected * weight).sum().backward();
  expect_equal_to(input.grad(), twin_input.grad(), what + ", gradient of the input");
  memory = of.context(twin, x).detach().mean(0);
  expect_equal_to(stored_in(layer)[0], memory, what + ", memory");
  const at::NoGradGuard no_grad;
  for (const auto& item : layer.named_parameters()) {
    at::Tensor& copy = twin.at(item.key());
    expect_equal_to(item.value().grad(), copy.grad(), what + ", gradient of " + item.key());
    at::Tensor parameter = item.value();
    parameter.sub_(kTwinRate * parameter.grad());
    copy = (copy - kTwinRate * copy.grad()).detach().requires_grad_();
  }
}

TEST(ConcatenatedCache, IsAModuleInFloat64OverThreeStepsAnEvaluationAndAResume) {
  for (const TwinCase& of : twin_cases()) {
    SCOPED_TRACE(of.name);
    const auto layer = made(of, nn::ConcatenatedCacheOptions{}, at::kDouble);
    Parameters twin = parameters_of(*layer);
    at::Tensor memory;
    EXPECT_EQ(stored_in(*layer).sizes(), (std::vector<int64_t>{1, of.entries, kTwinDim}));
    for (int64_t step = 0; step < 2; ++step) expect_same_step(*layer, of, twin, memory, 3, std::to_string(step));

    layer->eval();
    const at::Tensor x = at::randn({5, of.tokens(), kTwinDim}, at::kDouble), before = stored_in(*layer).clone();
    const at::Tensor evaluated = call(*layer, x, of);
    expect_equal_to(evaluated, of.forward(twin, x, memory), "evaluation");
    EXPECT_TRUE(at::equal(stored_in(*layer), before)) << "an evaluation stores nothing";
    expect_equal_to(call(*layer, x.narrow(0, 1, 2), of), evaluated.narrow(0, 1, 2), "fewer samples");

    const auto resumed = made(of, nn::ConcatenatedCacheOptions{}, at::kDouble);
    {
      const at::NoGradGuard no_grad;
      for (const auto& item : resumed->named_parameters()) item.value().copy_(layer->named_parameters()[item.key()]);
      for (const auto& item : resumed->named_buffers()) item.value().copy_(layer->named_buffers()[item.key()]);
    }
    EXPECT_TRUE(resumed->is_training());
    expect_same_step(*resumed, of, twin, memory, 2, "resumed");
  }
}

TEST(ConcatenatedCache, UntilAStepHasBeenStoredTheLayerIsThePlainOneBitForBit) {
  for (const TwinCase& of : twin_cases())
    for (const auto type : {at::kFloat, at::kDouble}) {
      SCOPED_TRACE(of.name);
      const auto layer = made(of, nn::ConcatenatedCacheOptions{}, type), plain = made(of, nn::NoCacheOptions{}, type);
      for (const auto& item : plain->named_parameters())
        EXPECT_TRUE(at::equal(item.value(), layer->named_parameters()[item.key()])) << "the same draws: " << item.key();
      const at::Tensor x = at::randn({3, of.tokens(), kTwinDim}, type);
      for (const bool training : {false, true}) {
        layer->train(training);
        plain->train(training);
        EXPECT_TRUE(at::equal(call(*layer, x, of), call(*plain, x, of)));
      }
      EXPECT_FALSE(at::allclose(call(*layer, x, of), call(*plain, x, of))) << "now there is a memory";
      nn::reset_caches(*layer);
      EXPECT_TRUE(at::equal(call(*layer, x, of), call(*plain, x, of))) << "after a reset";
    }
}

TEST(ConcatenatedCache, FreezesIntoConstantKeysAndValues) {
  for (const TwinCase& of : twin_cases())
    for (const bool stored : {false, true}) {
      SCOPED_TRACE(of.name + (stored ? "" : ", empty"));
      const at::NoGradGuard no_grad;
      const auto layer = made(of, nn::ConcatenatedCacheOptions{}, at::kDouble);
      const at::Tensor x = at::randn({3, of.tokens(), kTwinDim}, at::kDouble);
      EXPECT_TRUE(layer->has_cache());
      expect_refused([&] { layer->freeze_cache(); }, "call eval() first");
      if (stored) call(*layer, x, of);
      layer->eval();
      const at::Tensor expected = call(*layer, x, of);
      const auto frozen = layer->freeze_cache();
      EXPECT_FALSE(frozen->has_cache());
      EXPECT_TRUE(layer->has_cache()) << "the layer itself stays as it is";
      expect_equal_to(call(*frozen, x, of), expected, "frozen");
      EXPECT_FALSE(frozen->named_buffers().contains("cache.tokens"));
      for (const char* constant : {"memory_keys", "memory_values"})
        EXPECT_EQ(frozen->named_buffers()[constant].sizes(),
                  (std::vector<int64_t>{1, kTwinHeads, of.entries, kTwinDim / kTwinHeads}));
      for (const auto& item : frozen->named_parameters())
        EXPECT_TRUE(item.value().is_same(layer->named_parameters()[item.key()])) << item.key() << " is shared";
      expect_refused([&] { frozen->freeze_cache(); }, "has no cache to freeze");
    }
}

TEST(ConcatenatedCache, TakesSamplesWithAnotherNumberOfTokens) {
  const nn::TokenLayout small{nn::Grid{2, 2}, 0, {}}, large{nn::Grid{4, 4}, 0, {}};
  const auto layer = nn::make_self_attention({8, 2, 4, small, nn::ConcatenatedCacheOptions{}});
  layer->to(at::kDouble);
  const at::Tensor x = at::randn({3, 16, 8}, at::kDouble);
  layer->forward(x, x, nn::AttentionArgs::self(large));
  // Nearest-neighbour interpolation, as a gated recurrent cache does it: tokens 0, 4, 8 and 12 of 16.
  expect_equal_to(stored_in(*layer)[0], x.mean(0).index_select(0, at::tensor({0, 4, 8, 12})), "memory");
}

TEST(ConcatenatedCache, StaysFloat32InBfloat16) {
  const nn::TokenLayout map{nn::Grid{4, 4}, 0, {}};
  const auto layer = nn::make_self_attention({8, 2, 16, map, nn::ConcatenatedCacheOptions{}});
  const at::Tensor x = at::randn({3, 16, 8});
  at::autocast::set_autocast_enabled(at::kCPU, true);
  at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
  for (int64_t step = 0; step < 2; ++step) {
    const at::Tensor y = layer->forward(x, x, nn::AttentionArgs::self(map));
    y.sum().backward();
    EXPECT_TRUE(y.isfinite().all().item<bool>());
  }
  at::autocast::set_autocast_enabled(at::kCPU, false);
  at::autocast::clear_cache();
  EXPECT_EQ(stored_in(*layer).scalar_type(), at::kFloat);
  EXPECT_TRUE(at::equal(stored_in(*layer)[0], x.mean(0)));
  layer->to(at::kBFloat16);
  EXPECT_EQ(stored_in(*layer).scalar_type(), at::kFloat);
  layer->eval();
  const at::Tensor narrow = x.to(at::kBFloat16);
  EXPECT_EQ(layer->forward(narrow, narrow, nn::AttentionArgs::self(map)).scalar_type(), at::kBFloat16);
}

TEST(ConcatenatedCache, AnEmptyBatchLeavesItAsItIs) {
  const nn::TokenLayout map{nn::Grid{4, 4}, 0, {}};
  const auto layer = nn::make_self_attention({8, 2, 16, map, nn::ConcatenatedCacheOptions{}});
  const at::Tensor x = at::randn({3, 16, 8}), none = at::randn({0, 16, 8});
  layer->forward(x, x, nn::AttentionArgs::self(map));
  const at::Tensor before = stored_in(*layer).clone();
  EXPECT_EQ(layer->forward(none, none, nn::AttentionArgs::self(map)).size(0), 0);
  EXPECT_TRUE(at::equal(stored_in(*layer), before));
}

// A pass that reads a number from a device waits for it, and cannot be captured.
TEST(ConcatenatedCache, ADeviceIsReadOnceAfterSomebodyElseHasWrittenTheTokens) {
  const nn::AttentionArgs map = nn::AttentionArgs::self({nn::Grid{4, 4}, 0, {}});
  const auto layer = nn::make_self_attention({8, 2, 16, map.query, nn::ConcatenatedCacheOptions{}});
  const at::Tensor x = at::randn({3, 16, 8});
  const auto pass = [&](nn::Attention& of) { return of.forward(x, x, map).detach(); };
  test::DeviceReads reads;
  for (int64_t step = 0; step < 3; ++step) pass(*layer);
  layer->eval();
  const at::Tensor seen = pass(*layer);
  EXPECT_EQ(reads.taken(), 0) << "in training and evaluation";

  const at::Tensor tokens = stored_in(*layer).clone();
  stored_in(*layer).copy_(tokens);  // as a checkpoint is loaded
  EXPECT_TRUE(at::equal(pass(*layer), seen));
  EXPECT_EQ(reads.taken(), 1);
  pass(*layer);
  EXPECT_EQ(reads.taken(), 0) << "it is known again";

  nn::reset_caches(*layer);
  const at::Tensor plain = pass(*layer);
  EXPECT_FALSE(at::equal(plain, seen));
  EXPECT_EQ(reads.taken(), 0) << "a reset is known";
  {
    const c10::InferenceMode inference;
    stored_in(*layer).copy_(tokens);
  }
  EXPECT_TRUE(at::equal(pass(*layer), seen)) << "written in inference mode";
  EXPECT_EQ(reads.taken(), 1);
  stored_in(*layer).zero_();
  EXPECT_TRUE(at::equal(pass(*layer), plain)) << "emptied by hand";
  EXPECT_EQ(reads.taken(), 1);

  stored_in(*layer).copy_(tokens);
  const auto copy = std::dynamic_pointer_cast<nn::Attention>(layer->clone());
  EXPECT_TRUE(at::equal(pass(*copy), seen)) << "a copy reads its own tokens";
  const auto frozen = layer->freeze_cache();
  reads.taken();
  const at::Tensor constant = pass(*frozen);
  EXPECT_EQ(reads.taken(), 0) << "frozen";
  EXPECT_TRUE(at::allclose(constant, seen));
}

TEST(ConcatenatedCache, IsFilledWhereWorkIsCounted) {
  const nn::TokenLayout map{nn::Grid{4, 4}, 0, {}};
  const auto layer = nn::make_self_attention({8, 2, 16, map, nn::ConcatenatedCacheOptions{}});
  nn::fill_caches(*layer);
  const at::Tensor filled = stored_in(*layer).clone();
  EXPECT_TRUE(filled.ne(0).all().item<bool>());
  nn::fill_caches(*layer);
  EXPECT_TRUE(at::equal(stored_in(*layer), filled)) << "what is there stays";
}

TEST(ConcatenatedCache, IsRefusedWhereItHasNoMeaning) {
  const nn::CacheOptions cache = nn::ConcatenatedCacheOptions{};
  const char* instead = "the memory of Transformer-XL";
  for (const nn::AttentionFunctionOptions& function :
       std::vector<nn::AttentionFunctionOptions>{nn::EluOptions{}, nn::KernelOptions{}, nn::LshOptions{}})
    expect_refused([&] { nn::make_self_attention({8, 2, 4, {}, cache}, {.function = function}); }, instead);
  expect_refused([&] { nn::make_self_attention({8, 2, 0, {}, cache}); }, "one entry for each key of the layer");
  const auto layer = nn::make_self_attention({8, 2, 4, {}, cache});
  const at::Tensor x = at::randn({2, 4, 8});
  nn::AttentionArgs causal;
  causal.causal = true;
  expect_refused([&] { layer->forward(x, x, causal); }, "cannot be used with a causal mask or a session state");
  layer->eval();
  expect_refused([&] { layer->fold_affine_before({at::ones({8}), at::zeros({8})}); }, "freeze_cache() first");
}

}  // namespace
}  // namespace cachet
