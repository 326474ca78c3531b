#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cachet/io/tensor_map.h"
#include "cachet/train/parameter_groups.h"

namespace cachet::train {

/// The 2-norm of all gradients together, summed in float64; 0 where there are none. One read of the gradients.
double gradient_norm(const std::vector<NamedParameter>& parameters);

/// Scales all gradients by most / norm where `norm` (of gradient_norm) exceeds `most`.
void clip_gradients(const std::vector<NamedParameter>& parameters, double norm, double most);

/// The first parameter whose gradient holds a NaN or an infinity.
std::optional<std::string> first_non_finite_gradient(const std::vector<NamedParameter>& parameters);

/// The first floating-point tensor that holds a NaN or an infinity.
std::optional<std::string> first_non_finite(const io::TensorMap& tensors);

}  // namespace cachet::train
