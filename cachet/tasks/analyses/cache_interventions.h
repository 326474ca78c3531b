#pragma once

#include <torch/nn/module.h>

#include <cstdint>

namespace cachet::tasks {

// What is done to the stored caches of a model to see whether they are used. Each returns how many caches it changed;
// whoever wants them back keeps the model's buffers.

int64_t zero_caches(torch::nn::Module& model);

/// Each layer gets the cache of the next layer of the same shape, the last that of the first. A shape that one layer
/// alone has stays.
int64_t rotate_caches(torch::nn::Module& model);

/// Each layer gets the cache of the same layer of another model, where that has one of the same shape.
int64_t take_caches(torch::nn::Module& model, const torch::nn::Module& other);

}  // namespace cachet::tasks
