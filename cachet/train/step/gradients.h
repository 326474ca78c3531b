#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cachet/ops/support/batch_reducer.h"
#include "cachet/train/optimizer/parameter_groups.h"

namespace cachet::train {

/// Removes the gradients of all parameters.
void zero_gradients(const std::vector<NamedParameter>& parameters);

/// The 2-norm of each parameter's gradient, a vector on the gradients' device; empty where there are none.
at::Tensor gradient_norms(const std::vector<NamedParameter>& parameters);

/// The norm of all together, of the norms of each: summed in float64, in order.
double norm_of_norms(std::span<const double> norms);

/// Multiplies all gradients by `factor`.
void scale_gradients(const std::vector<NamedParameter>& parameters, double factor);

/// Adds up the gradients of all processes. A parameter that has none in any of them stays without.
void add_gradients(const std::vector<NamedParameter>& parameters, ops::BatchReducer& reducer);

/// Scales all gradients by most / norm where `norm` exceeds `most`.
void clip_gradients(const std::vector<NamedParameter>& parameters, double norm, double most);

/// The first parameter whose gradient holds a NaN or an infinity.
std::optional<std::string> first_non_finite_gradient(const std::vector<NamedParameter>& parameters);

/// The index of the first tensor that has a NaN or an infinity, in one read of all.
std::optional<size_t> first_non_finite(const std::vector<at::Tensor>& tensors);

}  // namespace cachet::train
