#include "cachet/nn/cache/gated_recurrent_cache.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "tests/support/cached_layer.h"

namespace cachet {
namespace {

using test::make_cached;
using test::memory_of;
using test::run;
using test::stored_tokens;
using GrcOptions = nn::GatedRecurrentCacheOptions;

// The numbers themselves are checked against the fixtures, in cached_attention_oracle_test.cpp.

TEST(GatedRecurrentCache, RecomputingTrainsTheGatesOfACausalLayer) {
  const at::Tensor first = at::randn({2, 4, 8}, at::kDouble), second = at::randn({2, 4, 8}, at::kDouble);
  std::map<nn::CacheGradient, std::pair<at::Tensor, at::Tensor>> seen;  // output, gate gradient of the second segment
  for (const auto gradient : {nn::CacheGradient::recompute, nn::CacheGradient::detached, nn::CacheGradient::carry}) {
    GrcOptions options;
    options.gradient = gradient;
    at::manual_seed(5);
    const auto layer = make_cached(options);
    const auto state = layer->make_state(2, nn::SessionUse::segments);
    nn::AttentionArgs args;
    args.causal = true;
    args.state = state.get();
    run(*layer, first, args);
    const at::Tensor y = run(*layer, second, args);
    y.sum().backward();
    const at::Tensor grad = layer->named_parameters()["cache.update_gate.weight"].grad();
    seen[gradient] = {y.detach(), grad.defined() ? grad.clone() : at::zeros({4, 8}, at::kDouble)};
  }
  const auto& recompute = seen[nn::CacheGradient::recompute];
  const auto& detached = seen[nn::CacheGradient::detached];
  const auto& carry = seen[nn::CacheGradient::carry];
  EXPECT_TRUE(at::allclose(recompute.first, detached.first, 1e-12, 1e-12)) << "the same numbers forward";
  EXPECT_EQ(detached.second.abs().sum().item<double>(), 0);
  EXPECT_GT(recompute.second.abs().sum().item<double>(), 0);
  // One segment back, what is recomputed is what would have been carried.
  EXPECT_TRUE(at::allclose(recompute.second, carry.second, 1e-10, 1e-14));
}

TEST(GatedRecurrentCache, AttendingToTheMeanGivesEverySampleTheStoredCache) {
  const auto layer = make_cached(GrcOptions{});
  const at::Tensor memory = memory_of(*layer, at::randn({3, 4, 8}, at::kDouble));
  EXPECT_TRUE(at::allclose(memory, stored_tokens(*layer), 1e-12, 1e-14));
}

TEST(GatedRecurrentCache, SamplesOfAnEvaluationNeverMeet) {
  GrcOptions options;
  options.inference = nn::CacheInference::per_sample;
  for (const auto attend : {nn::CacheAttend::mean, nn::CacheAttend::per_sample}) {
    options.attend = attend;
    const auto layer = make_cached(options);
    const at::Tensor x = at::randn({3, 4, 8}, at::kDouble);
    run(*layer, x);
    layer->eval();
    EXPECT_TRUE(at::allclose(memory_of(*layer, x).narrow(0, 1, 1), memory_of(*layer, x.narrow(0, 1, 1)), 1e-12, 1e-14));
  }
}

// What is left of the equations: C' = ½C + ½W_c[½C, X̄], averaged over the batch.
TEST(GatedRecurrentCache, FixedGatesAreHalf) {
  GrcOptions options;
  options.gates = nn::CacheGates::half;
  const auto layer = make_cached(options);
  const auto parameters = layer->named_parameters();
  EXPECT_FALSE(parameters.contains("cache.reset_gate.weight") || parameters.contains("cache.update_gate.weight"));
  const at::Tensor first = at::randn({3, 4, 8}, at::kDouble), second = at::randn({3, 4, 8}, at::kDouble);
  run(*layer, first);
  const at::Tensor before = stored_tokens(*layer);
  run(*layer, second);
  const at::Tensor seen = at::cat({before.expand({3, -1, -1}) / 2, second.narrow(2, 0, 4)}, 2);
  const at::Tensor candidate =
      at::linear(seen, parameters["cache.candidate.weight"], parameters["cache.candidate.bias"]);
  EXPECT_TRUE(at::allclose(stored_tokens(*layer), (before + candidate.mean(0, true)) / 2, 1e-12, 1e-14));
}

TEST(GatedRecurrentCache, PoolsTheGridAndKeepsTheClassToken) {
  GrcOptions options;
  options.pool = 2;
  const nn::TokenLayout layout{nn::Grid{5, 4}, 1, {}};
  const auto layer = make_cached(options, 8, 2, 21, layout);
  EXPECT_EQ(stored_tokens(*layer).sizes(), at::IntArrayRef({1, 1 + 3 * 2, 4}));
  run(*layer, at::randn({2, 21, 8}, at::kDouble), nn::AttentionArgs::self(layout));
}

}  // namespace
}  // namespace cachet
