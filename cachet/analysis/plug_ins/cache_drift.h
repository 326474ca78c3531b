#pragma once

#include <torch/nn/module.h>

#include <string>
#include <vector>

#include "cachet/analysis/plug_ins/stored_caches.h"

namespace cachet::analysis {

/// How far the stored caches of a model move from one training step to the next: ‖C_t − C_{t−1}‖ ÷ ‖C_t‖.
class CacheDrift {
 public:
  struct Layer {
    std::string layer;
    std::vector<double> steps;  // NaN where the cache is zero
  };

  /// From here on.
  explicit CacheDrift(const torch::nn::Module& model);
  /// Call this after each training step.
  void step();
  const std::vector<Layer>& layers() const { return layers_; }

 private:
  std::vector<StoredCache> caches_;
  std::vector<at::Tensor> before_;
  std::vector<Layer> layers_;
};

}  // namespace cachet::analysis
