#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace cachet::ops {

// An absent tensor is an empty optional in schemas, and an undefined tensor in saved tensors of autograd and
// in operands of kernels.

using OptionalTensor = std::optional<at::Tensor>;

inline OptionalTensor as_optional(const at::Tensor& x) { return x.defined() ? OptionalTensor(x) : std::nullopt; }

inline at::Tensor or_undefined(const OptionalTensor& x) { return x.value_or(at::Tensor()); }

}  // namespace cachet::ops
