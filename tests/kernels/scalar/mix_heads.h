#pragma once

#include "cachet/kernels/mix_heads.h"

namespace cachet::kernels::scalar {

// The kernels of this name as loops over their element functions.

template <class T>
void mix_heads(const T* self, const T* memory, const float* gate, T* out, MixHeadsShape s) {
  for (int64_t row = 0; row < s.tokens * s.heads; ++row)
    for (int64_t c = 0; c < s.head_dim; ++c) {
      const float m = c < s.memory_head_dim ? to_float(memory[row * s.memory_head_dim + c]) : 0.0f;
      out[row * s.head_dim + c] = from_float<T>(mixed(to_float(self[row * s.head_dim + c]), m, gate[row % s.heads]));
    }
}

template <class T>
void mix_heads_backward(const T* grad, const T* self, const T* memory, const float* gate, T* d_self, T* d_memory,
                        float* d_gate, MixHeadsShape s) {
  for (int64_t row = 0; row < s.tokens * s.heads; ++row)
    for (int64_t c = 0; c < s.head_dim; ++c) {
      const int64_t i = row * s.head_dim + c, in_memory = row * s.memory_head_dim + c;
      const bool narrow = c < s.memory_head_dim;
      const MixedGradient d = mixed_gradient(to_float(grad[i]), to_float(self[i]),
                                             narrow ? to_float(memory[in_memory]) : 0.0f, gate[row % s.heads]);
      d_self[i] = from_float<T>(d.self);
      d_gate[row % s.heads] += d.gate;
      if (narrow) d_memory[in_memory] = from_float<T>(d.memory);
    }
}

}  // namespace cachet::kernels::scalar
