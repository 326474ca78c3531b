#pragma once

#include <torch/nn/module.h>

#include <cstdint>

namespace cachet::nn {

/// Sets the caches of a model to zero, for example before another task: the cache of a classification run does not fit
/// whole photographs. Does not change gates, λ and other learnt parameters. Returns the number of caches.
int64_t reset_caches(torch::nn::Module& model);

/// Fills empty caches with noise, as in the middle of a run. Only caches whose computation depends on whether they hold
/// something are filled (ConcatenatedCache).
void fill_caches(torch::nn::Module& model);

}  // namespace cachet::nn
