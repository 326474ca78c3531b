#pragma once

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <functional>
#include <string>
#include <vector>

#include "cachet/ops/support/fused.h"

namespace cachet::test {

using Tensors = std::vector<at::Tensor>;

/// Outputs of an operator and gradients of all its inputs for fixed random gradients of the outputs.
inline Tensors outputs_and_gradients(const std::function<Tensors(const Tensors&)>& op, const Tensors& inputs) {
  Tensors leaves;
  for (const at::Tensor& input : inputs) leaves.push_back(input.detach().requires_grad_(input.is_floating_point()));
  Tensors outputs = op(leaves), grads, wanted;
  at::manual_seed(7);
  for (const at::Tensor& output : outputs) grads.push_back(at::randn(output.sizes()).to(output.scalar_type()));
  for (const at::Tensor& leaf : leaves)
    if (leaf.requires_grad()) wanted.push_back(leaf);
  const Tensors gradients =
      torch::autograd::grad(outputs, wanted, grads, /*retain_graph=*/{}, /*create_graph=*/false, /*allow_unused=*/true);
  for (size_t i = 0; i < wanted.size(); ++i)
    outputs.push_back(gradients[i].defined() ? gradients[i] : at::zeros_like(wanted[i]));
  return outputs;
}

/// |a − b| ≤ tolerance · max(1, max|b|), element by element, and the same shapes and dtypes.
inline void expect_close(const Tensors& actual, const Tensors& expected, double tolerance, const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    const std::string label = what + ", tensor " + std::to_string(i);
    ASSERT_EQ(actual[i].sizes(), expected[i].sizes()) << label;
    ASSERT_EQ(actual[i].scalar_type(), expected[i].scalar_type()) << label;
    if (actual[i].numel() == 0) continue;
    const at::Tensor a = actual[i].detach().to(at::kDouble), b = expected[i].detach().to(at::kDouble);
    const double scale = std::max(1.0, b.abs().max().item<double>());
    ASSERT_LE((a - b).abs().max().item<double>(), tolerance * scale) << label;
  }
}

/// Holds the fused form to the composite one, outputs (with and without a gradient to come, which may take other ways)
/// and gradients, in float32 and bfloat16: in float32 both are within `float_tolerance` of it, in bfloat16 both are
/// compared with the unfused form in float32 of the same numbers, which a fused form with float32 sums meets up to the
/// rounding of its operands between products. Then to itself with one thread.
inline void expect_fused_equals_composite(const std::function<Tensors(const Tensors&)>& op, const Tensors& inputs,
                                          const std::string& what, double float_tolerance = 2e-5,
                                          double narrow_tolerance = 6e-2) {
  ASSERT_FALSE(ops::composite_only()) << "CACHET_COMPOSITE leaves nothing to compare";
  for (const auto dtype : {at::kFloat, at::kBFloat16}) {
    Tensors typed, wide;
    for (const at::Tensor& input : inputs) {
      // One-dimensional operands are weights, biases and logits that stay float32, as under autocast.
      const bool narrow = input.is_floating_point() && input.dim() > 1;
      typed.push_back(narrow ? input.to(dtype) : input);
      wide.push_back(narrow ? typed.back().to(at::kFloat) : input);
    }
    const Tensors fused = outputs_and_gradients(op, typed);
    Tensors composite;
    {
      const ops::CompositeOnly composite_only;
      composite = outputs_and_gradients(op, dtype == at::kFloat ? typed : wide);
    }
    if (dtype == at::kBFloat16)
      for (size_t i = 0; i < composite.size(); ++i) composite[i] = composite[i].to(fused[i].scalar_type());
    expect_close(fused, composite, dtype == at::kFloat ? float_tolerance : narrow_tolerance,
                 what + (dtype == at::kFloat ? ", float32" : ", bfloat16"));
    const at::NoGradGuard inference;
    const Tensors outputs = op(typed);
    expect_close(outputs, {composite.begin(), composite.begin() + static_cast<std::ptrdiff_t>(outputs.size())},
                 dtype == at::kFloat ? float_tolerance : narrow_tolerance, what + ", inference");
    const at::AutoGradMode training(true);
    const int threads = at::get_num_threads();
    at::set_num_threads(1);
    const Tensors alone = outputs_and_gradients(op, typed);
    at::set_num_threads(threads);
    // Kernels sum up in an order of their own. ATen's products do not: they may differ by a rounding, which a sum over
    // tokens then collects.
    expect_close(fused, alone, dtype == at::kFloat ? 2e-6 : 2e-2, what + ", one thread");
  }
}

}  // namespace cachet::test
