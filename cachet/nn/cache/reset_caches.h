#pragma once

#include <torch/nn/module.h>

#include <cstdint>

namespace cachet::nn {

/// Sets the caches of a model to zero, for example before another task: the cache of a classification run does not suit
/// whole photographs. Learned parameters, such as the gates and λ, do not change. Returns the number of caches.
int64_t reset_caches(torch::nn::Module& model);

/// Fills empty caches with noise, so that they are full as in the middle of a run. fill_caches() fills only caches that
/// compute differently while they are empty (ConcatenatedCache).
void fill_caches(torch::nn::Module& model);

}  // namespace cachet::nn
