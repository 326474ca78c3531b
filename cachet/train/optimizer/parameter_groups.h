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

/// A model's trainable parameters by whether weight decay applies to them.
struct ParameterGroups {
  std::vector<NamedParameter> decayed, undecayed;
  std::vector<NamedParameter> frozen;  // without gradients; they are not trained

  /// "decay: 24 tensors, 1234567 values; no decay: 50 tensors, 8901 values"; frozen ones last, if there are any.
  std::string summary() const;

  /// Multiplies the learning rate of all parameters by this, except below the modules of these names, a model's heads.
  /// If the rate is 0, these parameters are frozen: they ask for no gradient from now on. Throws std::invalid_argument
  /// if no parameter is left at the whole rate.
  void slow_backbone(double rate, const std::vector<std::string>& heads);
};

/// No decay for parameters of at most one dimension, and those of whose dotted names a component matches one of the
/// patterns (config::glob_matches): "cls_token", "pos_embed*". A parameter that modules share is one, by the first of
/// its names. Throws std::invalid_argument for a model without trainable parameters.
ParameterGroups parameter_groups(const torch::nn::Module& model, const std::vector<std::string>& without_decay = {});

}  // namespace cachet::train
