#pragma once

#include <torch/nn/module.h>

#include <cstdint>

namespace cachet::tasks {

// Changes of a model's stored caches. The effect of a change shows whether the model uses its caches. Each function
// returns the number of changed caches. To restore the caches, save the model's buffers before the change.

int64_t zero_caches(torch::nn::Module& model);

/// Gives each layer the cache of the next layer whose cache has the same shape. The last of these layers gets the cache
/// of the first layer. A cache stays if no other cache has its shape.
int64_t rotate_caches(torch::nn::Module& model);

/// Gives each layer the cache of the corresponding layer of another model, if both caches have the same shape.
int64_t take_caches(torch::nn::Module& model, const torch::nn::Module& other);

}  // namespace cachet::tasks
