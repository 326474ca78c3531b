#pragma once

#include <cmath>

#include "cachet/kernels/cross_entropy_rows.h"

namespace cachet::kernels::scalar {

// The kernels of this name as loops over their element functions.

template <class T>
void cross_entropy_rows(const T* scores, const float* bias, const CrossEntropyTargets& targets, float* losses,
                        float* likelihoods, T* residual, float* scratch, CrossEntropyShape s) {
  for (int64_t row = 0; row < s.rows; ++row) {
    const int64_t first = row * s.columns, target = targets.classes[row];
    float largest = -INFINITY, sum = 0.0f;
    bool number = true;
    for (int64_t i = 0; i < s.columns; ++i) {
      scratch[i] = to_float(scores[first + i]) + (bias ? bias[i] : 0.0f);
      number = number && !std::isnan(scratch[i]);
      largest = std::fmax(largest, scratch[i]);
    }
    number = number && !std::isinf(largest);
    const float none = number || target < 0 ? 0.0f : NAN;
    const bool counts = target >= 0 && number;
    for (int64_t i = 0; i < s.columns && counts; ++i) sum += std::exp(scratch[i] - largest);
    float loss = 0.0f;
    for (int64_t i = 0; i < s.columns && counts; ++i) {
      const float wanted = wanted_probability(targets, i, target), log_p = scratch[i] - largest - std::log(sum);
      if (wanted != 0) loss -= wanted * log_p;
      if (i == target) likelihoods[row] = -log_p;
      if (residual) residual[first + i] = from_float<T>(std::exp(log_p) - wanted);
    }
    losses[row] = loss + none;
    if (counts) continue;
    likelihoods[row] = none;
    for (int64_t i = 0; i < s.columns && residual; ++i) residual[first + i] = from_float<T>(none);
  }
}

}  // namespace cachet::kernels::scalar
