#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "cachet/nn/norm/power_norm.h"
#include "tests/support/oracle.h"

namespace cachet {
namespace {

using test::Comparison;
using test::Oracle;

nn::PowerNormOptions power_norm_options_of(const Oracle& oracle) {
  nn::PowerNormOptions options;
  options.settings = {oracle.real("alpha_fwd"), oracle.real("alpha_bkw"), oracle.real("eps"), oracle.integer("warmup")};
  options.group_scaling = oracle.flag("group_scaling");
  return options;
}

class PowerNormOracle : public ::testing::TestWithParam<std::string> {};

TEST_P(PowerNormOracle, EveryStepIsReproduced) {
  const Oracle oracle = test::load_oracle(GetParam());
  Comparison compare(oracle.name);
  const auto options = power_norm_options_of(oracle);
  nn::PowerNorm norm(oracle.integer("channels"), options);
  norm.to(at::kDouble);
  const at::Tensor phi = norm.statistics[ops::PowerNormState::kRunning],
                   gradient_mean = norm.statistics[ops::PowerNormState::kGradientMean];
  {
    at::NoGradGuard no_grad;
    norm.weight.copy_(oracle["param.weight"]);
    norm.bias.copy_(oracle["param.bias"]);
    phi.copy_(oracle["start.running_phi"].flatten());
    gradient_mean.copy_(oracle["start.ema_gz"].flatten());
    norm.counters.copy_(oracle["start.iters"]);
  }
  for (int64_t i = 0; i < oracle.integer("iters"); ++i) {
    const std::string step = "step " + std::to_string(i) + " ";
    norm.zero_grad();
    const at::Tensor x = oracle.step(i, "x").requires_grad_();
    const at::Tensor y = norm.forward(x);
    (y * oracle.step(i, "dy")).sum().backward();
    compare.close(y, oracle.step(i, "y"), step + "y");
    compare.close(x.grad(), oracle.step(i, "dx"), step + "dx");
    compare.close(norm.weight.grad(), oracle.step(i, "dweight"), step + "dweight");
    compare.close(norm.bias.grad(), oracle.step(i, "dbias"), step + "dbias");
    compare.close(phi, oracle.step(i, "state.running_phi").flatten(), step + "running_phi");
    compare.close(gradient_mean, oracle.step(i, "state.ema_gz").flatten(), step + "ema_gz");
    EXPECT_EQ(norm.counters.item<int64_t>(), oracle.step(i, "state.iters").item<int64_t>());
  }
  norm.eval();
  const at::Tensor before = norm.statistics.clone();
  compare.close(norm.forward(oracle["eval.x"]), oracle["eval.y"], "evaluation");
  EXPECT_TRUE(at::equal(before, norm.statistics)) << "evaluation wrote the state";
  ASSERT_EQ(norm.inference_affine().has_value(), !options.group_scaling);
  if (const auto affine = norm.inference_affine())
    compare.close(oracle["eval.x"] * affine->scale + affine->shift, oracle["eval.y"], "affine form");
}

INSTANTIATE_TEST_SUITE_P(Fixtures, PowerNormOracle, ::testing::ValuesIn(test::oracles({"pn_"})),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace cachet
