#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

namespace cachet::nn {

/// A module that asks for a term of the loss beside the task's, such as weights that are to stay orthogonal.
class Regularized {
 public:
  virtual ~Regularized() = default;
  /// A scalar with its gradient, weight included; undefined where nothing is asked for. It is taken in float32
  /// or wider whatever autocast says: what a penalty measures is smaller than bfloat16's roundings.
  at::Tensor penalty() const;

 private:
  virtual at::Tensor wide_penalty() const = 0;
};

/// The sum over all of a tree; undefined where no module asks.
at::Tensor total_penalty(torch::nn::Module& root);

}  // namespace cachet::nn
