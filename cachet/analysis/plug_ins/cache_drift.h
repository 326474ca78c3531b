#pragma once

#include <torch/nn/module.h>

#include <string>
#include <vector>

#include "cachet/analysis/plug_ins/stored_caches.h"

namespace cachet::analysis {

/// The change of a model's stored caches from one training step to the next: ‖C_t − C_{t−1}‖ ÷ ‖C_t‖.
class CacheDrift {
 public:
  struct Layer {
    std::string layer;
    std::vector<double> steps;  // NaN if the cache is zero
  };

  /// Stores the model's current caches as C_0, the state before the first step.
  explicit CacheDrift(const torch::nn::Module& model);
  /// Measures how the caches changed in the last training step. step() must be called after each training step.
  void step();
  const std::vector<Layer>& layers() const { return layers_; }

 private:
  std::vector<StoredCache> caches_;
  std::vector<at::Tensor> before_;
  std::vector<Layer> layers_;
};

}  // namespace cachet::analysis
