#pragma once

#include <torch/nn/module.h>

#include <optional>
#include <string>

namespace cachet::train {

/// The first parameter or state of a model whose square overflows float32, and its largest value: "blocks.0.attn.cache
/// of the model holds numbers up to 3e+20". Such a cache or statistic can make the loss NaN. nullopt if there is none.
std::optional<std::string> outgrown_value(const torch::nn::Module& model);

}  // namespace cachet::train
