#pragma once

#include <ATen/core/grad_mode.h>
#include <torch/nn/module.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cachet/train/inference/packed_layers.h"
#include "cachet/train/machine/process_setup.h"
#include "cachet/train/options.h"

namespace cachet::train {

struct InferenceOptions {
  Precision precision = Precision::float32;
  /// Whether to reorder the weights of linear layers once instead of in each product. In float32, reordering makes
  /// products on a CPU faster. Results with and without reordering are equal up to rounding (1e-6 of the largest
  /// value). The reordered copies take as much memory as the weights.
  bool packed = false;
};

/// Prepares a model for inference during the object's lifetime: evaluation mode, no gradients, and one precision. The
/// destructor restores the model's mode and weights. All commands that make predictions use InferenceScope. Use in a
/// program:
///
///   const cachet::train::InferenceScope inference(*model, {.packed = true});
///   const at::Tensor logits = model->forward(images);
///
/// Scopes of one thread must end in the reverse order of their creation.
class InferenceScope {
 public:
  explicit InferenceScope(torch::nn::Module& model, const InferenceOptions& options = {});
  InferenceScope(const InferenceScope&) = delete;
  InferenceScope& operator=(const InferenceScope&) = delete;
  ~InferenceScope();

 private:
  torch::nn::Module& model_;
  bool trained_before_ = false;
  std::vector<std::pair<std::shared_ptr<torch::nn::Module>, bool>> modes_;  // modules and their former modes
  at::NoGradGuard no_grad_;
  PrecisionScope precision_;
  std::optional<PackedLayers> packed_;
};

}  // namespace cachet::train
