#pragma once

#include <torch/nn/module.h>

#include <cstdint>

namespace cachet::nn {

/// Sets what the caches of a model hold to zero, as where it takes over another task: a classification run's cache says
/// nothing of whole photographs. Gates, λ and all else that is learnt stay. Returns how many caches there are.
int64_t reset_caches(torch::nn::Module& model);

/// Gives the caches whose work depends on whether they hold something (ConcatenatedCache) noise to hold, if they are
/// empty: as in the middle of a run.
void fill_caches(torch::nn::Module& model);

}  // namespace cachet::nn
