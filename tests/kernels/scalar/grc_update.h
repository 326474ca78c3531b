#pragma once

#include "cachet/kernels/grc_update.h"

namespace cachet::kernels::scalar {

// The kernels of this name as loops over their element functions.

template <class T>
Moments activated_candidate(const GrcInputs<T>& in, const GrcRow<T>& at, int64_t width, float* row) {
  float sum = 0.0f, squares = 0.0f;
  for (int64_t i = 0; i < width; ++i) sum += row[i] = gelu(candidate_product(in, at, i));
  const float mean = sum / static_cast<float>(width);
  for (int64_t i = 0; i < width; ++i) squares += (row[i] - mean) * (row[i] - mean);
  return {mean, 1.0f / std::sqrt(squares / static_cast<float>(width) + in.norm_eps)};
}

// The candidate of element i; `row` and m are of its row, activated, if there is a norm.
template <class T>
float candidate(const GrcInputs<T>& in, const GrcRow<T>& at, const float* row, Moments m, int64_t i) {
  return in.norm_weight ? normalized(row[i], m) * in.norm_weight[i] + in.norm_bias[i] : candidate_product(in, at, i);
}

template <class T>
void grc_reset(const GrcInputs<T>& in, T* reset_cache, const GrcShape& s, GrcRows rows) {
  for (int64_t sample = 0; sample < s.batch; ++sample)
    for (int64_t t = rows.from; t < rows.to; ++t) {
      const GrcRow<T> at(in, s, sample, t);
      for (int64_t i = 0; i < s.width; ++i)
        reset_cache[at.row * s.width + i] = from_float<T>(gate(at.token_reset[i], at.cache_reset[i]) * at.cache[i]);
    }
}

template <class T>
void grc_blend(const GrcInputs<T>& in, T* next, float* mean, float* scratch, const GrcShape& s, GrcRows rows) {
  for (int64_t t = rows.from; t < rows.to; ++t) {
    for (int64_t i = 0; i < s.width; ++i) mean[t * s.width + i] = 0.0f;
    for (int64_t sample = 0; sample < s.batch; ++sample) {
      const GrcRow<T> at(in, s, sample, t);
      const Moments m = in.norm_weight ? activated_candidate(in, at, s.width, scratch) : Moments{};
      for (int64_t i = 0; i < s.width; ++i) {
        const float value =
            blended(gate(at.token_update[i], at.cache_update[i]), at.cache[i], candidate(in, at, scratch, m, i));
        next[at.row * s.width + i] = from_float<T>(value);
        mean[t * s.width + i] += value / static_cast<float>(s.batch);
      }
    }
  }
}

template <class T>
void grc_blend_backward(const GrcInputs<T>& in, const T* d_next, const float* d_mean, const GrcGradients<T>& out,
                        float* scratch, const GrcShape& s, GrcRows rows) {
  const auto n = static_cast<float>(s.width);
  float* d_candidate = scratch + s.width;
  for (int64_t t = rows.from; t < rows.to; ++t)
    for (int64_t sample = 0; sample < s.batch; ++sample) {
      const GrcRow<T> at(in, s, sample, t);
      T* d_tokens = out.token_products + at.row * 3 * s.width;
      const Moments m = in.norm_weight ? activated_candidate(in, at, s.width, scratch) : Moments{};
      float mean_g = 0.0f, mean_gz = 0.0f;
      for (int64_t i = 0; i < s.width; ++i) {
        float g = d_next ? to_float(d_next[at.row * s.width + i]) : 0.0f;
        if (d_mean) g += d_mean[t * s.width + i] / static_cast<float>(s.batch);
        const BlendGradient d = blend_gradient(g, gate(at.token_update[i], at.cache_update[i]), at.cache[i],
                                               candidate(in, at, scratch, m, i));
        d_tokens[s.width + i] = from_float<T>(d.update_product);
        if (out.cache) out.cache[at.cache_row * s.width + i] += d.cache;
        d_candidate[i] = d.candidate;
        if (!in.norm_weight) continue;
        const float z = normalized(scratch[i], m);
        out.norm_weight[i] += d.candidate * z;
        out.norm_bias[i] += d.candidate;
        d_candidate[i] *= in.norm_weight[i];
        mean_g += d_candidate[i] / n;
        mean_gz += d_candidate[i] * z / n;
      }
      for (int64_t i = 0; i < s.width; ++i) {
        float g = d_candidate[i];
        if (in.norm_weight)
          g = layer_norm_gradient(g, mean_g, mean_gz, normalized(scratch[i], m), m) *
              gelu_slope(candidate_product(in, at, i));
        d_tokens[2 * s.width + i] = from_float<T>(g);
      }
    }
}

template <class T>
void grc_reset_backward(const GrcInputs<T>& in, const T* d_reset_cache, T* reset_cache, const GrcGradients<T>& out,
                        const GrcShape& s, GrcRows rows) {
  for (int64_t t = rows.from; t < rows.to; ++t) {
    float* d_gates = out.cache_products ? out.cache_products + t * 2 * s.width : nullptr;
    for (int64_t i = 0; d_gates && i < 2 * s.width; ++i) d_gates[i] = 0.0f;
    for (int64_t sample = 0; sample < s.batch; ++sample) {
      const GrcRow<T> at(in, s, sample, t);
      T* d_tokens = out.token_products + at.row * 3 * s.width;
      for (int64_t i = 0; i < s.width; ++i) {
        const float g = to_float(d_reset_cache[at.row * s.width + i]), r = gate(at.token_reset[i], at.cache_reset[i]);
        const float d_gate = reset_gradient(g, r, at.cache[i]);
        reset_cache[at.row * s.width + i] = from_float<T>(r * at.cache[i]);
        d_tokens[i] = from_float<T>(d_gate);
        if (out.cache) out.cache[at.cache_row * s.width + i] += g * r;
        if (!d_gates) continue;
        d_gates[i] += d_gate;
        d_gates[s.width + i] += to_float(d_tokens[s.width + i]);
      }
    }
  }
}

}  // namespace cachet::kernels::scalar
