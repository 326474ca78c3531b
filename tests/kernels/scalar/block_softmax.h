#pragma once

#include "cachet/kernels/block_softmax.h"

namespace cachet::kernels::scalar {

// The kernels of this name as loops over their element functions.

inline void block_softmax(float* scores, float scale, const SeenKeys* seen, float* logsumexp, ScoreRows s) {
  for (int64_t row = 0; row < s.rows; ++row, scores += s.stride) {
    float largest = -INFINITY, sum = 0.0f;
    for (int64_t i = 0; i < s.columns; ++i) {
      scores[i] = seen_score(scores[i], scale, seen, row, i);
      largest = std::isnan(scores[i]) ? INFINITY : std::fmax(largest, scores[i]);
    }
    const bool none = largest == -INFINITY, number = largest != INFINITY;
    for (int64_t i = 0; i < s.columns && !none && number; ++i) sum += scores[i] = std::exp(scores[i] - largest);
    const float odd = none ? 0.0f : NAN;
    for (int64_t i = 0; i < s.columns; ++i) scores[i] = none || !number ? odd : scores[i] / sum;
    logsumexp[row] = none ? kNoScore : number ? largest + std::log(sum) : odd;
  }
}

inline void block_weights(float* scores, float scale, const SeenKeys* seen, const float* logsumexp, ScoreRows s) {
  for (int64_t row = 0; row < s.rows; ++row, scores += s.stride)
    for (int64_t i = 0; i < s.columns; ++i)
      scores[i] = std::exp(seen_score(scores[i], scale, seen, row, i) - logsumexp[row]);
}

inline void block_softmax_backward(const float* weights, const float* offsets, float scale, float* grad, ScoreRows s) {
  for (int64_t row = 0; row < s.rows; ++row, weights += s.stride, grad += s.stride)
    for (int64_t i = 0; i < s.columns; ++i) grad[i] = block_score_gradient(weights[i], grad[i], offsets[row], scale);
}

}  // namespace cachet::kernels::scalar
