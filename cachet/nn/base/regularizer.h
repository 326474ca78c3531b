#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

namespace cachet::nn {

/// A module that adds a term to the loss of the task, for example to make weights orthogonal.
class Regularized {
 public:
  virtual ~Regularized() = default;
  /// Returns the penalty times its weight, a differentiable scalar. Undefined without a penalty. Computes in float32 or
  /// wider, even under autocast, because the rounding errors of bfloat16 are larger than the penalties.
  at::Tensor penalty() const;

 private:
  virtual at::Tensor wide_penalty() const = 0;
};

/// Returns the sum of the penalties of all modules of a tree. If no module has a penalty, returns an undefined tensor.
at::Tensor total_penalty(torch::nn::Module& root);

}  // namespace cachet::nn
