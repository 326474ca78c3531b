#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

namespace cachet::nn {

/// A module that asks for a term of the loss beside the task's, such as weights that are to stay orthogonal.
class Regularized {
 public:
  virtual ~Regularized() = default;
  /// A scalar with its gradient, weight included; undefined where nothing is asked for.
  virtual at::Tensor penalty() const = 0;
};

/// The sum over all of a tree; undefined where no module asks.
at::Tensor total_penalty(torch::nn::Module& root);

}  // namespace cachet::nn
