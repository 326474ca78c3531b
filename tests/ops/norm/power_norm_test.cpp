#include "cachet/ops/norm/power_norm.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/support/fused_against_composite.h"
#include "tests/support/gradient_check.h"
#include "tests/support/refused.h"

namespace cachet {
namespace {

using test::expect_refused;

constexpr int64_t kPowerChannels = 3;

// The reference values themselves are held by the fixtures, in tests/nn/norm/power_norm_oracle_test.cpp.

TEST(PowerNormOperator, OnRunningStatisticsTheScaleIsConstant) {
  // After the warm-up the statistic that normalises is not this step's: w and b have exact derivatives.
  ops::PowerNormSettings settings;
  settings.warmup = 0;
  const at::Tensor x = at::randn({2, 4, kPowerChannels}, at::kDouble),
                   kept = at::randn({2, 4, kPowerChannels}, at::kDouble);
  test::expect_gradients(
      [&](const auto& in) {
        const auto state = ops::initial_power_norm_state(kPowerChannels, at::kDouble);
        return (ops::power_norm(x, in[0], in[1], {}, state, settings).output * kept).sum();
      },
      {at::randn({kPowerChannels}), at::randn({kPowerChannels})});
}

TEST(PowerNormOperator, PaddedNoiseNeverMatters) {
  const at::Tensor padding = at::tensor({0, 1, 0, 0, 1, 1}).view({2, 3}).to(at::kBool);
  const at::Tensor x = at::randn({2, 3, kPowerChannels}),
                   dy = at::randn({2, 3, kPowerChannels}).masked_fill(padding.unsqueeze(2), 0);
  at::Tensor results[2];
  for (const bool noisy : {false, true}) {
    const auto state = ops::initial_power_norm_state(kPowerChannels);
    const at::Tensor in = x.masked_fill(padding.unsqueeze(2), noisy ? 1e30 : 0.0).requires_grad_();
    const at::Tensor y = ops::power_norm(in, {}, {}, padding, state, {}).output;
    (y * dy).sum().backward();
    results[noisy] = at::cat({y, in.grad()}).masked_fill(padding.unsqueeze(2).repeat({2, 1, 1}), 0);
    EXPECT_TRUE(state.statistics.isfinite().all().item<bool>());
  }
  EXPECT_TRUE(at::equal(results[0], results[1]));
}

TEST(PowerNormOperator, AnswersShapesOnTheMetaDevice) {
  const auto state = ops::initial_power_norm_state(kPowerChannels, at::kMeta);
  const at::Tensor x = at::empty({2, 4, kPowerChannels}, at::kMeta).requires_grad_();
  const at::Tensor y = ops::power_norm(x, {}, {}, {}, state, {}).output;
  EXPECT_EQ(y.sizes(), x.sizes());
  y.sum().backward();
  EXPECT_EQ(x.grad().sizes(), x.sizes());
}

TEST(PowerNormOperator, FusedEqualsComposite) {
  using test::Tensors;
  for (const int64_t tokens : {1, 300})
    for (const int64_t channels : {1, 67})
      test::expect_fused_equals_composite(
          [&](const Tensors& in) -> Tensors {
            ops::PowerNormSettings settings;
            settings.warmup = 1;
            const auto state = ops::initial_power_norm_state(channels);
            Tensors out;
            for (int i = 0; i < 4; ++i) out.push_back(ops::power_norm(in[0], in[1], in[2], {}, state, settings).output);
            return out;
          },
          {at::randn({2, tokens, channels}), at::randn({channels}), at::randn({channels})},
          "tokens " + std::to_string(tokens) + ", channels " + std::to_string(channels));
}

TEST(PowerNormOperator, NamesWhatItRefuses) {
  const auto state = ops::initial_power_norm_state(kPowerChannels);
  const auto run = [&](const at::Tensor& x) { return [=] { ops::power_norm(x, {}, {}, {}, state, {}); }; };
  expect_refused(run(at::randn({3})), "power_norm: input must be floating (..., C)");
  expect_refused(run(at::randn({2, 5})), "power_norm: statistics must be (2, C) = (2, 5), got [2, 3]");
}

}  // namespace
}  // namespace cachet
