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

/// A model's trainable parameters in two groups: with weight decay and without weight decay.
struct ParameterGroups {
  std::vector<NamedParameter> decayed, undecayed;
  std::vector<NamedParameter> frozen;  // parameters without gradients, which are not trained

  /// Returns "decay: 24 tensors, 1234567 values; no decay: 50 tensors, 8901 values", then any frozen parameters.
  std::string summary() const;

  /// Multiplies the learning rate of all parameters outside the model's heads (the modules `heads`) by `rate`. If
  /// `rate` is 0, freezes the parameters outside the heads: from now on, they require no gradient. Throws
  /// std::invalid_argument if the heads have no trainable parameter.
  void slow_backbone(double rate, const std::vector<std::string>& heads);
};

/// Groups a model's parameters. A parameter has no decay if it has at most one dimension, or if a component of its
/// dotted name matches one of the patterns (config::glob_matches), such as "cls_token" or "pos_embed*". A shared
/// parameter counts once, by its first name. Throws std::invalid_argument if no parameter is trainable.
ParameterGroups parameter_groups(const torch::nn::Module& model, const std::vector<std::string>& without_decay = {});

}  // namespace cachet::train
