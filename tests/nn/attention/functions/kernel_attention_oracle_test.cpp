#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "cachet/nn/attention/functions/kernel_attention.h"
#include "tests/support/oracle.h"

namespace cachet {
namespace {

using test::Comparison;
using test::Oracle;

nn::KernelOptions kernel_options_of(const Oracle& oracle) {
  nn::KernelOptions options;
  const std::string kind = oracle.metadata.at("kind");
  options.form = kind == "linear"  ? nn::KernelForm::linear
                 : kind == "aoglu" ? nn::KernelForm::low_rank_glu
                                   : nn::KernelForm::glu;
  options.layers = oracle.integer("layers");
  if (oracle.has("down0")) options.gate_rank = oracle["down0"].size(2);
  return options;
}

// The fixture's name of each of our parameters: w0 or wf0, wg0, down0, up0.
std::string name_in_fixture(const std::string& ours, const Oracle& oracle) {
  const size_t layer = ours.find('.') + 1, end = ours.find('.', layer);
  const std::string number = ours.substr(layer, end - layer), last = ours.substr(end + 1);
  if (last == "weight") return (oracle.has("w0") ? "w" : "wf") + number;
  return (last == "gate" ? "wg" : last == "gate_down" ? "down" : "up") + number;
}

class KernelAttentionOracle : public ::testing::TestWithParam<std::string> {};

void expect_reproduced(const Oracle& oracle, at::ScalarType dtype) {
  Comparison compare(oracle.name, dtype == at::kFloat ? Comparison::kFloat32 : Comparison::kFloat64);
  nn::KernelAttention attention(kernel_options_of(oracle), oracle["q"].size(1), oracle["q"].size(3));
  attention.to(dtype);
  for (auto& parameter : attention.named_parameters()) {
    at::NoGradGuard no_grad;
    parameter.value().copy_(oracle[name_in_fixture(parameter.key(), oracle)]);
  }
  nn::AttentionArgs args;
  args.causal = oracle.flag("causal");
  if (oracle.has("key_padding")) args.context.padding = oracle["key_padding"].to(at::kBool);
  const auto operand = [&](const char* name) { return oracle[name].to(dtype, false, /*copy=*/true).requires_grad_(); };
  const at::Tensor q = operand("q"), k = operand("k"), v = operand("v");
  const at::Tensor y = attention.forward(q, k, v, args);
  (y * oracle["dy"]).sum().backward();
  compare.close(y, oracle["y"], "y");
  compare.close(q.grad(), oracle["grad.q"], "grad.q");
  compare.close(k.grad(), oracle["grad.k"], "grad.k");
  compare.close(v.grad(), oracle["grad.v"], "grad.v");
  for (const auto& parameter : attention.named_parameters()) {
    const std::string name = "grad." + name_in_fixture(parameter.key(), oracle);
    compare.close(parameter.value().grad(), oracle[name], name);
  }
}

TEST_P(KernelAttentionOracle, OutputsAndGradientsAreReproduced) {
  expect_reproduced(test::load_oracle(GetParam()), at::kDouble);
}

TEST_P(KernelAttentionOracle, TheFusedFormReproducesThemToo) {
  expect_reproduced(test::load_oracle(GetParam()), at::kFloat);
}

INSTANTIATE_TEST_SUITE_P(Fixtures, KernelAttentionOracle, ::testing::ValuesIn(test::oracles({"kernel_"})),
                         [](const auto& info) { return info.param; });

TEST(EluAttentionOracle, OutputsAndGradientsAreReproduced) {
  for (const std::string& name : test::oracles({"attn_linear_elu"})) {
    const Oracle oracle = test::load_oracle(name);
    Comparison compare(oracle.name);
    nn::KernelAttention attention(nn::EluOptions{1e-6}, oracle["q"].size(1), oracle["q"].size(3));
    for (const std::string form : {"full", "padded", "causal"}) {
      nn::AttentionArgs args;
      args.causal = form == "causal";
      if (form == "padded") args.context.padding = oracle["key_padding"].to(at::kBool);
      const at::Tensor q = oracle["q"].clone().requires_grad_(), k = oracle["k"].clone().requires_grad_(),
                       v = oracle["v"].clone().requires_grad_();
      const at::Tensor y = attention.forward(q, k, v, args);
      (y * oracle["dy"]).sum().backward();
      compare.close(y, oracle[form + ".y"], form + ".y");
      compare.close(q.grad(), oracle[form + ".grad.q"], form + ".grad.q");
      compare.close(k.grad(), oracle[form + ".grad.k"], form + ".grad.k");
      compare.close(v.grad(), oracle[form + ".grad.v"], form + ".grad.v");
    }
  }
}

}  // namespace
}  // namespace cachet
