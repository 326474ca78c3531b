#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <string>
#include <vector>

namespace cachet::analysis {

/// A stored cache of a model.
struct StoredCache {
  std::string layer;  // name of the cache: "blocks.3.attn.cache"
  at::Tensor tokens;  // the buffer itself (1, Tm, Dm)
};

/// Returns the stored caches of a model in the order of its modules.
std::vector<StoredCache> stored_caches(const torch::nn::Module& model);

/// Returns the root mean square of a cache's values, a float64 scalar on the same device; 0 before the first sample.
at::Tensor size_of(const StoredCache& cache);

/// Returns the cosine similarity of each pair of slots of a cache (1, Tm, Dm), as (Tm, Tm) in float64. If all values of
/// a slot are 0, its similarities are NaN. If no sample has passed through the cache, all slots are zero.
at::Tensor similarity_of_places(const at::Tensor& tokens);

/// Returns the mean similarity over all pairs of different slots, ignoring NaN. If the similarities of all pairs are
/// NaN, returns NaN. The value 1 means that all slots are equal.
double mean_similarity(const at::Tensor& similarity);

}  // namespace cachet::analysis
