#pragma once

#include <torch/nn/module.h>

#include <cstdint>

namespace cachet::nn {

/// Sets the caches of a model to zero, for example before another task: the cache of a classification run does not fit
/// whole photographs. Gates, λ and all other learnt parameters stay. Returns the number of caches.
int64_t reset_caches(torch::nn::Module& model);

/// Gives the caches whose work depends on whether they hold something (ConcatenatedCache) noise to hold, if they are
/// empty: as in the middle of a run.
void fill_caches(torch::nn::Module& model);

}  // namespace cachet::nn
