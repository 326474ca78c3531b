#pragma once

#include <torch/nn/module.h>

#include <optional>
#include <string>

namespace cachet::train {

/// Describes the first parameter or state whose square overflows float32, with its largest value: "blocks.0.attn.cache
/// of the model holds numbers up to 3e+20". Such a cache or statistic can make the loss NaN. Empty if none.
std::optional<std::string> outgrown_value(const torch::nn::Module& model);

}  // namespace cachet::train
