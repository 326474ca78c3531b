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

/// How alike the places of a cache are: the cosine of each with each, (Tm, Tm) in float64. tokens (1, Tm, Dm). NaN for
/// a place that is zero, as all are of a cache that no sample has passed.
at::Tensor similarity_of_places(const at::Tensor& tokens);

/// The mean over different places, those that are NaN left out; NaN where none is left. 1: all hold the same.
double mean_similarity(const at::Tensor& similarity);

}  // namespace cachet::analysis
