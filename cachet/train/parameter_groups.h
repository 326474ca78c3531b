#pragma once

#include <torch/nn/module.h>

#include <string>
#include <vector>

namespace cachet::train {

struct NamedParameter {
  std::string name;
  at::Tensor tensor;
};

/// A model's trainable parameters by whether weight decay applies to them.
struct ParameterGroups {
  std::vector<NamedParameter> decayed, undecayed;

  /// "decay: 24 tensors, 1234567 values; no decay: 50 tensors, 8901 values"
  std::string summary() const;
};

/// No decay for parameters of at most one dimension, position tables, λ (`share`), and names with one of the given
/// components. Throws std::invalid_argument for a model without trainable parameters.
ParameterGroups parameter_groups(const torch::nn::Module& model, const std::vector<std::string>& without_decay = {});

}  // namespace cachet::train
