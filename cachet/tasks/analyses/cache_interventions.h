#pragma once

#include <torch/nn/module.h>

#include <cstdint>

namespace cachet::tasks {

// Changes of a model's stored caches. The effect of a change on the model's results shows whether the model uses its
// caches. Each function of this file returns the number of caches that it changed. To be able to restore the caches,
// save the model's buffers before the change.

int64_t zero_caches(torch::nn::Module& model);

/// Gives each layer the cache of the next layer whose cache has the same shape. If several layers have caches of one
/// shape, the last of these layers gets the cache of the first of these layers. If no other cache has the shape of a
/// layer's cache, the layer retains its cache.
int64_t rotate_caches(torch::nn::Module& model);

/// Gives each layer the cache of the corresponding layer of another model, if both caches have the same shape.
int64_t take_caches(torch::nn::Module& model, const torch::nn::Module& other);

}  // namespace cachet::tasks
