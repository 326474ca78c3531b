#pragma once

#include <torch/nn/module.h>

#include <cstdint>

namespace cachet::tasks {

// Changes of a model's stored caches, which show whether the model uses them. Each function returns the number of
// changed caches. To restore the caches, save the model's buffers before.

int64_t zero_caches(torch::nn::Module& model);

/// Gives each layer the cache of the next layer with the same shape, and the last layer that of the first. A
/// cache with a shape of its own stays.
int64_t rotate_caches(torch::nn::Module& model);

/// Gives each layer the cache of the same layer of another model, if both caches have the same shape.
int64_t take_caches(torch::nn::Module& model, const torch::nn::Module& other);

}  // namespace cachet::tasks
