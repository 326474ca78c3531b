#include "cachet/nn/attention/cached_attention.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <map>

#include "cachet/nn/layers/linear.h"
#include "tests/support/cached_layer.h"
#include "tests/support/gradient_check.h"
#include "tests/support/refused.h"

namespace cachet {
namespace {

using test::expect_refused;
using test::make_cached;
using test::run;
using test::stored_tokens;
using Grc = nn::GatedRecurrentCacheOptions;

// The numbers themselves are held by the fixtures, in cached_attention_oracle_test.cpp.

at::Tensor gate_gradient(const nn::Attention& layer) {
  return layer.named_parameters()["cache.update_gate.weight"].grad();
}

TEST(CachedAttention, EvaluationNeverWritesTheModelsState) {
  for (const nn::CacheOptions& options :
       {nn::CacheOptions(Grc{}), nn::CacheOptions(Grc::of(nn::GatedRecurrentCacheVariant::official)),
        nn::CacheOptions(nn::FifoCacheOptions{})}) {
    nn::TokenLayout grid{nn::Grid{2, 2}, 0, {}};
    const auto layer = make_cached(options, 8, 2, 4, grid);
    const at::Tensor x = at::randn({2, 4, 8}, at::kDouble);
    run(*layer, x, nn::AttentionArgs::self(grid));
    const at::Tensor before = stored_tokens(*layer);
    EXPECT_GT(before.abs().sum().item<double>(), 0) << "training did not store anything";
    layer->eval();
    run(*layer, x, nn::AttentionArgs::self(grid));
    EXPECT_TRUE(at::equal(before, stored_tokens(*layer)));
  }
}

TEST(CachedAttention, PackedLayersAnswerAsTheyDidBefore) {
  const at::NoGradGuard no_grad;
  for (const nn::CacheGates gates : {nn::CacheGates::learned, nn::CacheGates::half}) {
    Grc options;
    options.gates = gates;
    options.inference = nn::CacheInference::per_sample;
    const auto layer = make_cached(options);
    layer->to(at::kFloat);
    layer->eval();
    const at::Tensor x = at::randn({2, 4, 8}), before = run(*layer, x);
    nn::pack_linear_layers(*layer);
    EXPECT_TRUE(at::allclose(run(*layer, x), before, 1e-5, 1e-6));
  }
}

TEST(CachedAttention, TwoForwardsBeforeABackwardAreLegal) {
  const at::Tensor a = at::randn({2, 4, 8}, at::kDouble), b = at::randn({2, 4, 8}, at::kDouble);
  at::Tensor gradients[2];
  for (const bool together : {false, true}) {
    at::manual_seed(3);
    const auto layer = make_cached(Grc{});
    if (together) {
      const at::Tensor first = run(*layer, a).sum(), second = run(*layer, b).pow(2).sum();
      first.backward();
      second.backward();
    } else {
      run(*layer, a).sum().backward();
      run(*layer, b).pow(2).sum().backward();
    }
    gradients[together] = gate_gradient(*layer).clone();
  }
  EXPECT_TRUE(at::equal(gradients[0], gradients[1]));
}

TEST(CachedAttention, LanesDoNotMix) {
  Grc options;
  options.scope = nn::CacheScope::batch_row;
  const auto layer = make_cached(options);
  const at::Tensor x = at::randn({3, 2, 4, 8}, at::kDouble);  // three segments of two batch rows
  const auto stream = [&](const at::Tensor& segments) {
    const auto state = layer->make_state(segments.size(1), nn::SessionUse::segments);
    nn::AttentionArgs args;
    args.state = state.get();
    at::Tensor last;
    for (int64_t i = 0; i < 3; ++i) last = run(*layer, segments[i], args);
    return last;
  };
  const at::Tensor both = stream(x);
  EXPECT_TRUE(at::allclose(both.slice(0, 1, 2), stream(x.slice(1, 1, 2)), 1e-10, 1e-12));
  EXPECT_EQ(stored_tokens(*layer).abs().sum().item<double>(), 0) << "lanes live in the caller's state";
}

TEST(CachedAttention, AListenerHearsWhatItAsksForAlone) {
  const auto layer = make_cached(Grc{});
  const auto heard = [&](nn::Signals wanted) {
    std::map<nn::Signal, int> times;
    const auto hear = [&](const std::string&, nn::Signal signal, const at::Tensor&) { ++times[signal]; };
    const nn::Observation observation(*layer, {hear, wanted});
    run(*layer, at::randn({3, 4, 8}, at::kDouble));
    return times;
  };
  using Times = std::map<nn::Signal, int>;
  EXPECT_EQ(heard({}), Times());
  EXPECT_EQ(heard({nn::Signal::mixing_gate}), (Times{{nn::Signal::mixing_gate, 1}}));
  EXPECT_EQ(heard({nn::Signal::update_gate, nn::Signal::attention_keys}),
            (Times{{nn::Signal::update_gate, 1}, {nn::Signal::attention_keys, 2}}));  // of itself and of the memory
  EXPECT_EQ(heard(nn::Signals::all()).size(), 9u);
}

TEST(CachedAttention, GradientEqualsFiniteDifferences) {
  const nn::TokenLayout layout{nn::Grid{2, 2}, 1, {}};
  for (const auto variant : {nn::GatedRecurrentCacheVariant::paper, nn::GatedRecurrentCacheVariant::official}) {
    const auto layer = make_cached(Grc::of(variant), 4, 2, 5, layout);
    run(*layer, at::randn({2, 5, 4}, at::kDouble), nn::AttentionArgs::self(layout));
    const at::Tensor start = stored_tokens(*layer);
    test::expect_gradients(
        [&](const auto& in) {
          {
            at::NoGradGuard no_grad;  // each evaluation of the function begins from the same cache
            layer->named_buffers()["cache.tokens"].copy_(start);
          }
          return run(*layer, in[0], nn::AttentionArgs::self(layout)).pow(2).sum();
        },
        {at::randn({2, 5, 4})});
  }
}

TEST(CachedAttention, StateStaysWideInANarrowModel) {
  const auto layer = nn::make_self_attention({8, 2, 4, {}, Grc{}});
  layer->to(at::kBFloat16);
  EXPECT_EQ(stored_tokens(*layer).scalar_type(), at::kFloat);
  const at::Tensor y = run(*layer, at::randn({2, 4, 8}).to(at::kBFloat16));
  EXPECT_EQ(y.scalar_type(), at::kBFloat16);
  EXPECT_EQ(stored_tokens(*layer).scalar_type(), at::kFloat);
}

TEST(CachedAttention, NamesWhatItRefuses) {
  const nn::TokenLayout grid{nn::Grid{2, 2}, 0, {}};
  Grc odd;
  odd.ratio = 0.4;
  expect_refused([&] { make_cached(odd, 8, 2); }, "2 does not divide 3 (ratio 0.4 of 8 channels)");
  Grc convolution = Grc::of(nn::GatedRecurrentCacheVariant::official);
  convolution.ratio = 0.75;
  expect_refused([&] { make_cached(convolution, 8, 2, 4, grid); }, "6 does not divide 8");
  Grc batch_row;
  batch_row.scope = nn::CacheScope::batch_row;
  const at::Tensor x = at::randn({2, 4, 8}, at::kDouble);
  expect_refused([&] { run(*make_cached(batch_row), x); }, "`scope = \"lane\"` needs the session's state");
  nn::AttentionArgs causal;
  causal.causal = true;
  expect_refused([&] { run(*make_cached(Grc{}), x, causal); }, "gradient = recompute needs the session's state");
  expect_refused(
      [&] {
        make_cached(Grc{})->forward(x, at::randn({2, 4, 8}, at::kDouble), {});
      },
      "pass the query as context");
  expect_refused([&] { run(*make_cached(Grc::of(nn::GatedRecurrentCacheVariant::official), 8, 2, 4, grid), x); },
                 "the positional convolution needs tokens on a grid");
}

}  // namespace
}  // namespace cachet
