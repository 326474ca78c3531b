#pragma once

#include <cstdint>

#include "cachet/kernels/bfloat16.h"
#include "cachet/kernels/host_device.h"

namespace cachet::kernels {

// Dense rows with a score for each of `columns` classes. T is float or BFloat16; all arithmetic is in float32.
struct CrossEntropyShape {
  int64_t rows, columns;
};

/// The targets of the rows. The class of a row has the probability 1 − smoothing; each other class has the
/// probability `other`. A row whose class is −1 has no target and no loss.
struct CrossEntropyTargets {
  const int64_t* classes;
  float smoothing = 0.0f, other = 0.0f;  // other = smoothing / (columns − 1)
};

/// Computes, with z = scores + bias, p = softmax(z) along each row, and q = the target probabilities of the row:
///   losses = −Σ q·log p,  likelihoods = −log p of the class,  residual = p − q (the gradient of a loss by the scores).
/// If a row has no class, its results are 0. If the scores of a row have a NaN or +∞, or only −∞, its results are NaN.
/// The pointers `bias` (columns) and `residual` may be null. The arrays `residual` and `scores` may be the same. The
/// array `scratch` has room for `columns` floats.
template <class T>
void cross_entropy_rows(const T* scores, const float* bias, const CrossEntropyTargets& targets, float* losses,
                        float* likelihoods, T* residual, float* scratch, CrossEntropyShape shape);

// --- one element -----------------------------------------------------------------------------------------------------

/// Returns the target probability of class i in a row whose class is `target`.
CACHET_HOST_DEVICE inline float wanted_probability(const CrossEntropyTargets& targets, int64_t i, int64_t target) {
  return targets.other + (i == target ? 1.0f - targets.smoothing - targets.other : 0.0f);
}

}  // namespace cachet::kernels
