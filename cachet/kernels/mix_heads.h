#pragma once

#include <cstdint>

#include "cachet/kernels/bfloat16.h"

namespace cachet::kernels {

struct MixHeadsShape {
  int64_t tokens, heads, head_dim;
  int64_t memory_head_dim;  // at most head_dim: memory heads are narrower
};

// All arrays dense, row by row; T is float or BFloat16; share (heads) is σ(λ).

/// out[t,h,:] = (1 − s_h)·self[t,h,:], and on the first memory_head_dim channels + s_h·memory[t,h,:].
template <class T>
void mix_heads(const T* self, const T* memory, const float* share, T* out, MixHeadsShape shape);

/// d_self = (1 − s)·g, d_memory = s·g on its channels, d_share += Σ_t (memory·g − self·g).
template <class T>
void mix_heads_backward(const T* grad, const T* self, const T* memory, const float* share, T* d_self, T* d_memory,
                        float* d_share, MixHeadsShape shape);

namespace scalar {

// The same, one element at a time: what the kernels above are tested against.
template <class T>
void mix_heads(const T* self, const T* memory, const float* share, T* out, MixHeadsShape shape);
template <class T>
void mix_heads_backward(const T* grad, const T* self, const T* memory, const float* share, T* d_self, T* d_memory,
                        float* d_share, MixHeadsShape shape);

}  // namespace scalar
}  // namespace cachet::kernels
