#pragma once

#include <torch/nn/module.h>

#include <optional>
#include <string>

namespace cachet::train {

/// Describes the first parameter or state whose square overflows float32 (and can make the loss NaN), with its largest
/// value: "blocks.0.attn.cache of the model holds numbers up to 3e+20". If no value's square overflows, returns
/// std::nullopt.
std::optional<std::string> outgrown_value(const torch::nn::Module& model);

}  // namespace cachet::train
