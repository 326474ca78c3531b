#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

namespace cachet::nn {

/// A module that adds a term to the task's loss, for example to make weights orthogonal.
class Regularized {
 public:
  virtual ~Regularized() = default;
  /// A scalar with its gradient, times its weight; undefined without a penalty. It is computed in float32 or wider,
  /// also under autocast, because penalties are smaller than bfloat16's roundings.
  at::Tensor penalty() const;

 private:
  virtual at::Tensor wide_penalty() const = 0;
};

/// The sum over all of a tree; undefined where no module asks.
at::Tensor total_penalty(torch::nn::Module& root);

}  // namespace cachet::nn
