#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "cachet/nn/norm/norm_options.h"
#include "cachet/nn/norm/unified_norm.h"
#include "tests/support/oracle.h"

namespace cachet {
namespace {

using State = ops::UnifiedNormState;
using test::Comparison;
using test::Oracle;

ops::UnifiedNormSettings unified_norm_settings_of(const Oracle& oracle) {
  if (oracle.metadata.value("norm", "") == "mabn")
    return nn::unified_norm_settings(nn::MovingAverageBatchNormOptions{
        oracle.integer("window"), oracle.real("momentum"), oracle.real("eps"), oracle.integer("warmup")});
  nn::UnifiedNormOptions options;
  const bool paper = oracle.metadata.value("form", "") == "paper";
  options.variant = paper ? nn::UnifiedNormVariant::paper : nn::UnifiedNormVariant::official;
  auto& s = options.settings;
  const auto& window = oracle.metadata.at("window");
  s.forward_window = window.is_array() ? window[0].get<int64_t>() : window.get<int64_t>();
  s.backward_window = window.is_array() ? window[1].get<int64_t>() : window.get<int64_t>();
  s.warmup = oracle.integer("warmup");
  s.forward_momentum = s.backward_momentum = oracle.real("momentum");
  s.eps = oracle.real("eps");
  s.filter_outliers = oracle.flag("outlier_filtration");
  return nn::unified_norm_settings(options);
}

// The published state, variable by variable, in the rows and counters of ours.
void load_state(nn::UnifiedNorm& norm, const Oracle& oracle, const ops::UnifiedNormSettings& settings) {
  at::NoGradGuard no_grad;
  norm.weight.copy_(oracle["param.weight"]);
  norm.bias.copy_(oracle["param.bias"]);
  if (!oracle.has("start.iters")) return;
  const int64_t ring = State::kForwardRing;
  norm.statistics[State::kRunning].copy_(oracle["start.running_var"].flatten());
  if (oracle.has("start.ema_gz")) norm.statistics[State::kGradientMean].copy_(oracle["start.ema_gz"]);
  norm.statistics.narrow(0, ring, settings.forward_window).copy_(oracle["start.buffer_x2"]);
  norm.statistics.narrow(0, ring + settings.forward_window, settings.backward_window).copy_(oracle["start.buffer_gz"]);
  norm.counters[State::kSteps] = oracle["start.iters"][0];
  if (oracle.has("start.skip_counter")) norm.counters[State::kFiltered] = oracle["start.skip_counter"][0];
}

// Compares with whatever the fixture records of a step's state.
void compare_state(const nn::UnifiedNorm& norm, const Oracle& oracle, int64_t i,
                   const ops::UnifiedNormSettings& settings, Comparison& compare) {
  const int64_t M = settings.forward_window, Mb = settings.backward_window;
  const int64_t ring = State::kForwardRing, step = norm.steps();
  const std::map<std::string, at::Tensor> ours{
      {"running_var", norm.statistics[State::kRunning]}, {"ema_gz", norm.statistics[State::kGradientMean]},
      {"buffer_x2", norm.statistics.narrow(0, ring, M)}, {"buffer_gz", norm.statistics.narrow(0, ring + M, Mb)},
      {"omega", norm.statistics[ring + step % M]},       {"gz", norm.statistics[ring + M + step % Mb]},
  };
  for (const auto& [name, tensor] : ours)
    for (const std::string& key : {name, "state." + name})
      if (oracle.has_step(i, key))
        compare.close(tensor, oracle.step(i, key).reshape(tensor.sizes()), "step " + std::to_string(i) + " " + key);
}

// The fixtures record skips as a running count, or as a flag of the step where they record how a skip is handled.
void expect_filtered(const nn::UnifiedNorm& norm, const Oracle& oracle, int64_t i) {
  const bool flag = oracle.metadata.contains("on_filtered") || oracle.metadata.contains("norm");
  if (oracle.has_step(i, "skipped")) {
    const int64_t expected = oracle.step(i, "skipped").item<int64_t>();
    EXPECT_EQ(flag ? norm.counters[State::kLastFiltered].item<int64_t>() : norm.steps_filtered(), expected)
        << oracle.name << " step " << i;
  }
  if (oracle.has_step(i, "state.skip_counter")) {
    EXPECT_EQ(norm.steps_filtered(), oracle.step(i, "state.skip_counter").item<int64_t>());
  }
  if (oracle.has_step(i, "state.iters")) {
    EXPECT_EQ(norm.steps(), oracle.step(i, "state.iters").item<int64_t>());
  }
}

class UnifiedNormOracle : public ::testing::TestWithParam<std::string> {};

TEST_P(UnifiedNormOracle, EveryStepIsReproduced) {
  const Oracle oracle = test::load_oracle(GetParam());
  Comparison compare(oracle.name);
  const auto settings = unified_norm_settings_of(oracle);
  nn::UnifiedNorm norm(oracle.integer("channels"), settings);
  norm.to(at::kDouble);
  load_state(norm, oracle, settings);

  for (int64_t i = 0; i < oracle.integer("iters"); ++i) {
    const std::string step = "step " + std::to_string(i) + " ";
    at::Tensor used;
    norm.listen({"", nn::Listener([&](const std::string&, nn::Signal signal, const at::Tensor& value) {
                   if (signal == nn::Signal::used_statistic) used = value;
                 })});
    norm.zero_grad();
    const at::Tensor x = oracle.step(i, "x").requires_grad_();
    const at::Tensor padding = oracle.has_step(i, "pad") ? oracle.step(i, "pad").to(at::kBool) : at::Tensor();
    const at::Tensor y = norm.forward(x, padding);
    (y * oracle.step(i, "dy")).sum().backward();
    compare.close(y, oracle.step(i, "y"), step + "y");
    compare.close(x.grad(), oracle.step(i, "dx"), step + "dx");
    compare.close(norm.weight.grad(), oracle.step(i, "dweight"), step + "dweight");
    compare.close(norm.bias.grad(), oracle.step(i, "dbias"), step + "dbias");
    if (oracle.has_step(i, "var")) compare.close(used, oracle.step(i, "var"), step + "var");
    compare_state(norm, oracle, i, settings, compare);
    expect_filtered(norm, oracle, i);
  }
  norm.eval();
  const at::Tensor before = norm.statistics.clone();
  compare.close(norm.forward(oracle["eval.x"]), oracle["eval.y"], "evaluation");
  EXPECT_TRUE(at::equal(before, norm.statistics)) << "evaluation wrote the state";
  const nn::Affine affine = *norm.inference_affine();
  compare.close(oracle["eval.x"] * affine.scale + affine.shift, oracle["eval.y"], "affine form");
}

INSTANTIATE_TEST_SUITE_P(Fixtures, UnifiedNormOracle, ::testing::ValuesIn(test::oracles({"un_", "mabn_"})),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace cachet
