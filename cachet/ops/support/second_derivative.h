#pragma once

#include <torch/library.h>

#include <string>

namespace cachet::ops {

/// Why an operator whose fused form has a backward operator of its own is differentiable once, and what to do.
inline constexpr const char* kFusedOnce =
    "where it is fused, in float32 and bfloat16 on the CPU; compute in float64, or set CACHET_COMPOSITE=1 in the "
    "environment";

/// The same for the norms that smooth their gradient.
inline constexpr const char* kSmoothedOnce =
    "since its gradient is smoothed over steps; scale_shift, its form at inference, has one in float64";

/// The autograd form of a backward operator: calls it, and throws c10::Error with this message when a gradient of its
/// results is computed.
torch::CppFunction refuse_second_derivative(std::string message);

}  // namespace cachet::ops
