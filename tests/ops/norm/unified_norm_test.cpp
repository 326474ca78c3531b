#include "cachet/ops/norm/unified_norm.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/support/fused_against_composite.h"
#include "tests/support/gradient_check.h"
#include "tests/support/refused.h"

namespace cachet {
namespace {

using test::expect_refused;
using State = ops::UnifiedNormState;

constexpr int64_t kChannels = 3;

// The reference values themselves are held by the fixtures, in tests/nn/norm/unified_norm_oracle_test.cpp.

TEST(UnifiedNormOperator, OnBatchStatisticsTheGradientIsExact) {
  // In the warm-up, and with no momentum backward, smoothing is off: the formula is the derivative of batch RMS norm.
  ops::UnifiedNormSettings settings;
  settings.warmup = 1'000'000;
  settings.backward_momentum = 0;
  const at::Tensor weight = at::randn({2, 4, kChannels}, at::kDouble);
  const at::Tensor padding = at::tensor({0, 0, 1, 0, 0, 0, 0, 1}).view({2, 4}).to(at::kBool);
  for (const auto& mask : {std::optional<at::Tensor>(), std::optional<at::Tensor>(padding)}) {
    const at::Tensor kept = mask ? weight.masked_fill(mask->unsqueeze(2), 0) : weight;
    test::expect_gradients(
        [&](const auto& in) {
          const auto state = ops::initial_unified_norm_state(kChannels, settings, at::kDouble);
          const at::Tensor x = mask ? in[0].masked_fill(mask->unsqueeze(2), 0) : in[0];
          const at::Tensor y = ops::unified_norm(x, in[1], in[2], mask, state, settings).output;
          return (y * kept).sum();
        },
        {at::randn({2, 4, kChannels}), at::randn({kChannels}), at::randn({kChannels})});
  }
}

TEST(UnifiedNormOperator, TwoForwardsBeforeABackwardUseTheirOwnSlots) {
  ops::UnifiedNormSettings settings;
  settings.warmup = 0;
  settings.filter_outliers = false;
  const auto options = at::TensorOptions(at::kDouble);
  const at::Tensor a = at::randn({5, kChannels}, options).requires_grad_(),
                   b = at::randn({5, kChannels}, options).requires_grad_();
  const auto run = [&](bool together) {
    const auto state = ops::initial_unified_norm_state(kChannels, settings, options);
    const auto norm = [&](const at::Tensor& x) {
      return ops::unified_norm(x, {}, {}, {}, state, settings).output.pow(3).sum();
    };
    if (together) {
      const at::Tensor first = norm(a), second = norm(b);
      first.backward();
      second.backward();
    } else {
      norm(a).backward();
      norm(b).backward();
    }
    return state.statistics;
  };
  EXPECT_TRUE(at::equal(run(true), run(false)));
}

TEST(UnifiedNormOperator, PaddedNoiseNeverMatters) {
  const ops::UnifiedNormSettings settings;
  const at::Tensor padding = at::tensor({0, 1, 0, 0, 1, 1}).view({2, 3}).to(at::kBool);
  const at::Tensor x = at::randn({2, 3, kChannels});
  at::Tensor results[2];
  for (const bool noisy : {false, true}) {
    const auto state = ops::initial_unified_norm_state(kChannels, settings);
    const at::Tensor in = x.masked_fill(padding.unsqueeze(2), noisy ? std::numeric_limits<double>::quiet_NaN() : 0.0);
    results[noisy] =
        ops::unified_norm(in, {}, {}, padding, state, settings).output.masked_fill(padding.unsqueeze(2), 0);
    EXPECT_TRUE(state.statistics.isfinite().all().item<bool>());
  }
  EXPECT_TRUE(at::equal(results[0], results[1]));
}

TEST(UnifiedNormOperator, NarrowInputsAreAveragedInTheStatesType) {
  const ops::UnifiedNormSettings settings;
  const auto state = ops::initial_unified_norm_state(kChannels, settings);
  const at::Tensor x = at::randn({64, kChannels}).to(at::kBFloat16).requires_grad_();
  const auto [y, statistic, on_own] =
      ops::unified_norm(x, at::ones({kChannels}), at::zeros({kChannels}), {}, state, settings);
  y.sum().backward();
  EXPECT_EQ(y.scalar_type(), at::kBFloat16);
  EXPECT_EQ(x.grad().scalar_type(), at::kBFloat16);
  EXPECT_TRUE(at::allclose(statistic, x.detach().to(at::kFloat).square().mean(0), 1e-6, 1e-6));
}

TEST(UnifiedNormOperator, CountsStepsOnTheWindowAndFilteredOnes) {
  ops::UnifiedNormSettings settings;
  settings.warmup = 6;
  const auto state = ops::initial_unified_norm_state(kChannels, settings);
  at::manual_seed(1);  // its statistics differ by so little that the filter lets them pass; other draws' need not
  const auto step = [&](double scale) {
    ops::unified_norm(scale * at::randn({4000, kChannels}), {}, {}, {}, state, settings);
  };
  for (int i = 0; i < 9; ++i) step(1.0);
  EXPECT_EQ(state.counters[State::kOnWindow].item<int64_t>(), 3);
  step(30.0);
  EXPECT_EQ(state.counters[State::kFiltered].item<int64_t>(), 1);
  EXPECT_EQ(state.counters[State::kLastFiltered].item<int64_t>(), 1);
  step(1.0);
  EXPECT_EQ(state.counters[State::kOnWindow].item<int64_t>(), 4);
  EXPECT_EQ(state.counters[State::kLastFiltered].item<int64_t>(), 0);
}

TEST(UnifiedNormOperator, CountsChannelsIfEachHasItsOwnThreshold) {
  ops::UnifiedNormSettings settings;
  settings.warmup = 6;
  settings.threshold = ops::OutlierThreshold::channel;
  const auto state = ops::initial_unified_norm_state(kChannels, settings);
  const auto step = [&](double root, double last) {
    const at::Tensor x = at::full({1, kChannels}, root);
    x[0][kChannels - 1] = last;
    return ops::unified_norm(x, {}, {}, {}, state, settings).on_own;
  };
  for (int i = 0; i < 9; ++i) EXPECT_FALSE(step(i % 4 + 1, i % 4 + 1).any().item<bool>());
  EXPECT_EQ(state.counters[State::kOnWindow].item<int64_t>(), 3 * kChannels);
  EXPECT_TRUE(at::equal(step(2, 1000), at::tensor({0, 0, 1}).to(at::kBool)));
  EXPECT_EQ(state.counters[State::kFiltered].item<int64_t>(), 1);
  EXPECT_EQ(state.counters[State::kLastFiltered].item<int64_t>(), 1);
  EXPECT_EQ(state.counters[State::kOnWindow].item<int64_t>(), 4 * kChannels - 1);
  step(3, 3);
  EXPECT_EQ(state.counters[State::kSteps].item<int64_t>(), 11);
}

TEST(UnifiedNormOperator, AChannelThatStandsStillIsNotFiltered) {
  // Of a constant statistic both sides of Eq. 18 are 0, but for their rounding.
  for (const auto dtype : {at::kFloat, at::kDouble}) {
    ops::UnifiedNormSettings settings;
    settings.warmup = 0;
    settings.threshold = ops::OutlierThreshold::channel;
    const at::Tensor x = at::rand({1, 500}, dtype) * 10;
    const auto state = ops::initial_unified_norm_state(500, settings, dtype);
    for (int i = 0; i < 12; ++i) ops::unified_norm(x, {}, {}, {}, state, settings);
    EXPECT_EQ(state.counters[State::kFiltered].item<int64_t>(), 0);
  }
}

TEST(UnifiedNormOperator, AnswersShapesOnTheMetaDevice) {
  for (const auto threshold : {ops::OutlierThreshold::pooled, ops::OutlierThreshold::channel}) {
    ops::UnifiedNormSettings settings;
    settings.threshold = threshold;
    const auto state = ops::initial_unified_norm_state(kChannels, settings, at::kMeta);
    const at::Tensor x = at::empty({2, 4, kChannels}, at::kMeta).requires_grad_();
    const auto [y, used, on_own] = ops::unified_norm(x, {}, {}, {}, state, settings);
    EXPECT_EQ(y.sizes(), x.sizes());
    EXPECT_EQ(used.numel(), kChannels);
    EXPECT_EQ(on_own.numel(), threshold == ops::OutlierThreshold::channel ? kChannels : 1);
    y.sum().backward();
    EXPECT_EQ(x.grad().sizes(), x.sizes());
  }
}

TEST(UnifiedNormOperator, RefusesASecondDerivative) {
  const ops::UnifiedNormSettings settings;
  const auto state = ops::initial_unified_norm_state(kChannels, settings);
  const at::Tensor x = at::randn({4, kChannels}).requires_grad_();
  const at::Tensor y = ops::unified_norm(x, {}, {}, {}, state, settings).output;
  const auto first = torch::autograd::grad({y.pow(2).sum()}, {x}, {}, true, /*create_graph=*/true);
  EXPECT_THROW(first[0].sum().backward(), c10::Error);
}

TEST(UnifiedNormOperator, FusedEqualsComposite) {
  using test::Tensors;
  for (const auto threshold : {ops::OutlierThreshold::pooled, ops::OutlierThreshold::channel})
    for (const bool official : {false, true})
      for (const bool masked : {false, true})
        for (const int64_t tokens : {1, 5, 300})
          for (const int64_t channels : {1, 16, 67}) {
            ops::UnifiedNormSettings settings;
            settings.warmup = 2;
            settings.official = settings.rescale = official;
            settings.threshold = threshold;
            at::Tensor padding = at::zeros({2, tokens}, at::kBool);
            padding[1].fill_(masked);
            test::expect_fused_equals_composite(
                [&](const Tensors& in) -> Tensors {
                  const auto state = ops::initial_unified_norm_state(channels, settings);
                  Tensors out;
                  for (int i = 0; i < 8; ++i)
                    out.push_back(ops::unified_norm(in[0] * (1 + 0.1 * i), in[1], in[2],
                                                    masked ? std::optional(padding) : std::nullopt, state, settings)
                                      .output);
                  return out;
                },
                {at::randn({tokens, 2, channels}).transpose(0, 1), at::randn({channels}), at::randn({channels})},
                "tokens " + std::to_string(tokens) + ", channels " + std::to_string(channels));
          }
}

TEST(UnifiedNormOperator, NamesWhatItRefuses) {
  const ops::UnifiedNormSettings settings;
  const auto state = ops::initial_unified_norm_state(kChannels, settings);
  const at::Tensor x = at::randn({2, 4, kChannels});
  const auto run = [&](const at::Tensor& input, const State& s, const std::optional<at::Tensor>& weight = {},
                       const std::optional<at::Tensor>& padding = {}) {
    return [=] { ops::unified_norm(input, weight, {}, padding, s, settings); };
  };
  expect_refused(run(at::randn({3}), state), "input must be floating (..., C)");
  expect_refused(run(x, state, at::ones({4})), "weight must be (C) = (3), got [4]");
  expect_refused(run(x, state, {}, at::zeros({2, 3}, at::kBool)),
                 "padding must be bool with the leading sizes of input");
  expect_refused(run(at::randn({2, 5}), state), "statistics must be (2 + M + M_b, C) = (10, 5), got [10, 3]");
  expect_refused(run(x, {state.statistics.to(at::kBFloat16), state.counters}), "float32 or float64, got BFloat16");
  expect_refused(run(x, {state.statistics, state.counters.to(at::kFloat)}), "counters must be (4) int64, got Float");
  ops::UnifiedNormSettings no_window;
  no_window.forward_window = 0;
  expect_refused([&] { ops::unified_norm(x, {}, {}, {}, state, no_window); },
                 "window must be two numbers of at least 1");
  expect_refused(run(x, {state.statistics.to(at::kMeta), state.counters}), "statistics is on meta");
}

}  // namespace
}  // namespace cachet
