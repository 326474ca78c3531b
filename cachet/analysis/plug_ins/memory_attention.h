#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cachet/analysis/plug_ins/by_layer.h"
#include "cachet/nn/base/observer.h"

namespace cachet::analysis {

/// What fraction of their attention heads give to a concatenated cache (nn::ConcatenatedCache), over all forward passes
/// that it listens to. A layer whose cache holds nothing yet is left out.
class MemoryAttention {
 public:
  nn::Listener listener();
  /// By layer ("blocks.3.attn"), a number for each head: the sum of a query's weights on the memory, mean over queries
  /// and samples.
  ByLayer<std::vector<double>> layers() const;

 private:
  struct Call {
    std::string layer;
    int64_t entries = 0;  // of the memory
    at::Tensor queries, keys;
  };
  struct Sums {
    at::Tensor on_memory;  // (H), float64: over all queries
    double count = 0;      // of queries
  };
  void add(const at::Tensor& bias);

  Call call_;  // under way
  ByLayer<Sums> sums_;
};

/// Whether a model has a layer with a concatenated cache.
bool has_concatenated_cache(const torch::nn::Module& model);

}  // namespace cachet::analysis
