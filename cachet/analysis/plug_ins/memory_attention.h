#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cachet/analysis/plug_ins/by_layer.h"
#include "cachet/nn/base/observer.h"

namespace cachet::analysis {

/// The fraction of each head's attention that goes to a concatenated cache (nn::ConcatenatedCache), over all observed
/// forward passes. Leaves out layers whose cache is empty.
class MemoryAttention {
 public:
  nn::Listener listener();
  /// For each head of each layer ("blocks.3.attn"), returns the sum of a query's attention weights on the cached
  /// tokens, as a mean over queries and samples.
  ByLayer<std::vector<double>> layers() const;

 private:
  struct Call {
    std::string layer;
    int64_t entries = 0;  // number of entries in the memory
    at::Tensor queries, keys;
  };
  struct Sums {
    at::Tensor on_memory;  // (H), float64: sum over all queries
    double count = 0;      // number of queries
  };
  void add(const at::Tensor& bias);

  Call call_;  // current call
  ByLayer<Sums> sums_;
};

/// Whether a model has a layer with a concatenated cache.
bool has_concatenated_cache(const torch::nn::Module& model);

}  // namespace cachet::analysis
