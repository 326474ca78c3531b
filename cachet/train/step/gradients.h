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

/// Returns the 2-norms of the parameters' gradients: a vector on the gradients' device, empty without gradients.
at::Tensor gradient_norms(const std::vector<NamedParameter>& parameters);

/// Returns the norm of all gradients, computed from the norms of the single gradients. Sums the squares of the norms in
/// float64, in the order of `norms`.
double norm_of_norms(std::span<const double> norms);

/// Multiplies all gradients by `factor`.
void scale_gradients(const std::vector<NamedParameter>& parameters, double factor);

/// Sums the gradients over all processes. If no process has a gradient of a parameter, the parameter still has no
/// gradient after the call.
void add_gradients(const std::vector<NamedParameter>& parameters, ops::BatchReducer& reducer);

/// Multiplies all gradients by most / norm if `norm` exceeds `most`.
void clip_gradients(const std::vector<NamedParameter>& parameters, double norm, double most);

/// Returns the name of the first parameter whose gradient has NaN or infinity, or std::nullopt for finite gradients.
std::optional<std::string> first_non_finite_gradient(const std::vector<NamedParameter>& parameters);

/// Returns the index of the first tensor with a NaN or an infinity, or std::nullopt. Reads all tensors at once.
std::optional<size_t> first_non_finite(const std::vector<at::Tensor>& tensors);

}  // namespace cachet::train
