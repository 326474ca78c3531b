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
  /// Lays out the weights of linear layers once for products, not in each product: faster on a CPU in float32, with the
  /// same answers up to rounding (1e-6 of the largest). The laid-out weights take as much memory again.
  bool packed = false;
};

/// While it lives, a model gives answers: evaluation mode, no gradients, one precision. At its end the model is as
/// before: in the mode that it had, with its own weights. All commands that answer use it, and so can a program:
///
///   const cachet::train::InferenceScope inference(*model, {.packed = true});
///   const at::Tensor logits = model->forward(images);
///
/// Scopes of one thread end in the reverse order of their beginnings.
class InferenceScope {
 public:
  explicit InferenceScope(torch::nn::Module& model, const InferenceOptions& options = {});
  InferenceScope(const InferenceScope&) = delete;
  InferenceScope& operator=(const InferenceScope&) = delete;
  ~InferenceScope();

 private:
  torch::nn::Module& model_;
  bool trained_before_ = false;
  std::vector<std::pair<std::shared_ptr<torch::nn::Module>, bool>> modes_;  // of the modules within it
  at::NoGradGuard no_grad_;
  PrecisionScope precision_;
  std::optional<PackedLayers> packed_;
};

}  // namespace cachet::train
