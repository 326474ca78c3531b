#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "cachet/train/optimizer/parameter_groups.h"

namespace cachet::train {

/// Gradients of parameters at fixed addresses, in one buffer for each type. Backward passes add to these gradients.
///
/// The first step shows which parameters get gradients. All other parameters have no gradient, so that the optimizer
/// skips them.
class FixedGradients {
 public:
  explicit FixedGradients(std::vector<NamedParameter> parameters) : parameters_(std::move(parameters)) {}

  /// Sets all gradients to zero, at their fixed addresses. Before the first call of fix(), removes the gradients.
  void zero();

  /// Gives the gradients of the last backward pass their fixed addresses. Call fix() after the first backward pass, and
  /// after each pass that may give a gradient to another parameter. Gradients that were replaced since the last call
  /// are copied to their addresses. Returns whether addresses changed.
  bool fix();

  /// Parameters with a gradient, and their gradients, in the order of the parameters.
  const std::vector<NamedParameter>& with_gradient() const { return with_gradient_; }
  const std::vector<at::Tensor>& gradients() const { return gradients_; }

 private:
  bool has_all_addresses() const;
  void give_addresses();

  std::vector<NamedParameter> parameters_;
  std::vector<NamedParameter> with_gradient_;
  std::vector<at::Tensor> gradients_;  // views of `buffers_`
  std::vector<at::Tensor> buffers_;    // one of each type
};

}  // namespace cachet::train
