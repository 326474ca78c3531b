#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/GradMode.h>

#include <optional>

namespace cachet::ops {

inline bool requires_gradient(const at::Tensor& operand) { return operand.requires_grad(); }  // false if undefined
inline bool requires_gradient(const std::optional<at::Tensor>& operand) { return operand && operand->requires_grad(); }

/// Whether autograd is enabled and any of the tensors requires a gradient. Tensors may be absent.
template <class... Operands>
bool wants_gradient(const Operands&... operands) {
  return at::GradMode::is_enabled() && (requires_gradient(operands) || ...);
}

}  // namespace cachet::ops
