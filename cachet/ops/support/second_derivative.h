#pragma once

#include <torch/library.h>

#include <string>

namespace cachet::ops {

/// Why an operator with its own backward operator is differentiable only once where it is fused, and what to do.
inline constexpr const char* kFusedOnce =
    "where it is fused, in float32 and bfloat16 on the CPU; compute in float64, or set CACHET_COMPOSITE=1 in the "
    "environment";

/// Why a norm that smooths its gradient is differentiable only once.
inline constexpr const char* kSmoothedOnce =
    "since its gradient is smoothed over steps; scale_shift, its form at inference, has one in float64";

/// Returns the autograd form of a backward operator. It calls the operator, and throws c10::Error with this message if
/// a gradient of its results is computed.
torch::CppFunction refuse_second_derivative(std::string message);

}  // namespace cachet::ops
