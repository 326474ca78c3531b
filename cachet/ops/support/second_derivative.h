#pragma once

#include <torch/library.h>

#include <string>

namespace cachet::ops {

/// The reason why a fused operator with a backward operator of its own is differentiable only once, and a remedy.
inline constexpr const char* kFusedOnce =
    "of the fused form, which is used for float32 and bfloat16 on the CPU; compute in float64, or set "
    "CACHET_COMPOSITE=1 in the environment";

/// The reason why a norm that smooths its gradient is differentiable only once.
inline constexpr const char* kSmoothedOnce =
    "because its gradient is smoothed over steps; in float64, scale_shift, its form at inference, has a second "
    "derivative";

/// Returns the autograd form of a backward operator. It calls the operator. If a gradient of the operator's results is
/// computed, the autograd form throws c10::Error with `message`.
torch::CppFunction refuse_second_derivative(std::string message);

}  // namespace cachet::ops
