#pragma once

#include <torch/nn/module.h>

#include <string>
#include <vector>

namespace cachet::train {

struct NamedParameter {
  std::string name;
  at::Tensor tensor;
  double rate = 1;  // learning-rate multiplier
};

/// A model's trainable parameters, grouped by whether weight decay applies to them.
struct ParameterGroups {
  std::vector<NamedParameter> decayed, undecayed;
  std::vector<NamedParameter> frozen;  // without gradients; not trained

  /// Returns "decay: 24 tensors, 1234567 values; no decay: 50 tensors, 8901 values"; then frozen ones, if any.
  std::string summary() const;

  /// Multiplies the learning rate of all parameters by `rate`, except in the modules `heads`, the model's heads. If
  /// `rate` is 0, freezes these parameters: they require no gradient from now on. Throws std::invalid_argument if no
  /// parameter has the full rate.
  void slow_backbone(double rate, const std::vector<std::string>& heads);
};

/// Groups a model's parameters. Parameters have no decay if they have at most one dimension, or if a component of their
/// dotted name matches one of the patterns (config::glob_matches): "cls_token", "pos_embed*". A parameter of several
/// modules counts once, by its first name. Throws std::invalid_argument if a model has no trainable parameters.
ParameterGroups parameter_groups(const torch::nn::Module& model, const std::vector<std::string>& without_decay = {});

}  // namespace cachet::train
