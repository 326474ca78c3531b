#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <string>
#include <vector>

namespace cachet::analysis {

/// A stored cache of a model.
struct StoredCache {
  std::string layer;  // of the cache: "blocks.3.attn.cache"
  at::Tensor tokens;  // the buffer itself (1, Tm, Dm)
};

/// In the order of the model's modules.
std::vector<StoredCache> stored_caches(const torch::nn::Module& model);

/// The root mean square of what a cache holds, a float64 scalar on its device; 0 for one that no sample has passed.
at::Tensor size_of(const StoredCache& cache);

/// How alike the slots of a cache are: the cosine of each with each, (Tm, Tm) in float64. tokens (1, Tm, Dm). NaN for a
/// slot that is zero. In a cache that no sample has passed, all are zero.
at::Tensor similarity_of_places(const at::Tensor& tokens);

/// The mean over pairs of different slots, without those that are NaN; NaN if none is left. 1: all slots are equal.
double mean_similarity(const at::Tensor& similarity);

}  // namespace cachet::analysis
