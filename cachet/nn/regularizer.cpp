#include "cachet/nn/regularizer.h"

#include <ATen/TensorOperators.h>

namespace cachet::nn {

at::Tensor total_penalty(torch::nn::Module& root) {
  at::Tensor total;
  for (const auto& module : root.modules()) {
    const auto* regularized = dynamic_cast<const Regularized*>(module.get());
    const at::Tensor penalty = regularized ? regularized->penalty() : at::Tensor();
    if (penalty.defined()) total = total.defined() ? total + penalty : penalty;
  }
  return total;
}

}  // namespace cachet::nn
