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

  /// Starts from the model's present caches.
  explicit CacheDrift(const torch::nn::Module& model);
  /// Measures the change by a training step. Call this after each step.
  void step();
  const std::vector<Layer>& layers() const { return layers_; }

 private:
  std::vector<StoredCache> caches_;
  std::vector<at::Tensor> before_;
  std::vector<Layer> layers_;
};

}  // namespace cachet::analysis
