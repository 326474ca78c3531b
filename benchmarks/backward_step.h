#pragma once

#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/autograd.h>

#include <vector>

namespace cachet::benchmarks {

using Tensors = std::vector<at::Tensor>;

/// Backward from the outputs to all inputs that want a gradient, for a loss whose gradient is the outputs.
inline void step(const Tensors& outputs, const Tensors& inputs) {
  Tensors grads;
  for (const at::Tensor& output : outputs) grads.push_back(output.detach());
  torch::autograd::grad(outputs, inputs, grads, {}, /*create_graph=*/false, /*allow_unused=*/true);
}

}  // namespace cachet::benchmarks
