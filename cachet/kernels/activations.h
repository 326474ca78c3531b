#pragma once

#include <cmath>

#include "cachet/kernels/host_device.h"

namespace cachet::kernels {

// Activations of one number, in float32. simd-inl.h has the same functions for vectors.

/// Returns σ(x) = 1 / (1 + e⁻ˣ).
CACHET_HOST_DEVICE inline float sigmoid(float x) { return 1.0f / (1.0f + std::exp(-x)); }

/// Returns log(1 + eˣ).
CACHET_HOST_DEVICE inline float softplus(float x) { return std::fmax(x, 0.0f) + std::log1p(std::exp(-std::fabs(x))); }

/// Returns Φ(x) = (1 + erf(x/√2))/2.
CACHET_HOST_DEVICE inline float normal_distribution(float x) { return 0.5f * (1.0f + std::erf(x * 0.70710678f)); }

/// Returns x·Φ(x).
CACHET_HOST_DEVICE inline float gelu(float x) { return x * normal_distribution(x); }

/// Returns the derivative of GELU, Φ(x) + x·e^(−x²/2)/√(2π).
CACHET_HOST_DEVICE inline float gelu_slope(float x) {
  return normal_distribution(x) + x * 0.39894228f * std::exp(-0.5f * x * x);
}

}  // namespace cachet::kernels
