#pragma once

#include <cstdint>

#include "cachet/kernels/bfloat16.h"
#include "cachet/kernels/host_device.h"

namespace cachet::kernels {

struct MixHeadsShape {
  int64_t tokens, heads, head_dim;
  int64_t memory_head_dim;  // at most head_dim; memory heads may have fewer channels
};

// All arrays of this file are dense and row-major. T is float or BFloat16. The array `gate` (heads) has the values s =
// σ(λ).

/// Computes out[t,h,:] = (1 − s_h)·self[t,h,:], and adds s_h·memory[t,h,:] to out's first memory_head_dim channels.
template <class T>
void mix_heads(const T* self, const T* memory, const float* gate, T* out, MixHeadsShape shape);

/// Computes d_self = (1 − s)·g, d_memory = s·g on the memory's channels, and d_gate += Σ_t (memory·g − self·g).
template <class T>
void mix_heads_backward(const T* grad, const T* self, const T* memory, const float* gate, T* d_self, T* d_memory,
                        float* d_gate, MixHeadsShape shape);

// --- one element -----------------------------------------------------------------------------------------------------

/// Returns (1 − s)·self + s·memory. Tests and CUDA call mixed(); mix_heads.cpp computes the formula with SIMD.
CACHET_HOST_DEVICE inline float mixed(float self, float memory, float gate) {
  return (1.0f - gate) * self + gate * memory;
}

/// The gradients of mixed() by its inputs self, memory and gate, for one element. The gradient d_gate of a head is the
/// sum of `gate` over the elements of the head. `g` is the gradient of the result of mixed().
struct MixedGradient {
  float self, memory, gate;
};
CACHET_HOST_DEVICE inline MixedGradient mixed_gradient(float g, float self, float memory, float gate) {
  return {(1.0f - gate) * g, gate * g, (memory - self) * g};
}

}  // namespace cachet::kernels
