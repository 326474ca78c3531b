#pragma once

#include <cstdint>

#include "cachet/kernels/bfloat16.h"
#include "cachet/kernels/host_device.h"

namespace cachet::kernels {

// Rows of scores of `columns` classes, row after row. T is float or BFloat16; all arithmetic is float32.
struct CrossEntropyShape {
  int64_t rows, columns;
};

/// The targets of the rows: the class of each (−1: none, which costs nothing), each with probability
/// 1 − smoothing − other; every other class with `other`.
struct CrossEntropyTargets {
  const int64_t* classes;
  float smoothing = 0.0f, other = 0.0f;  // other = smoothing / (columns − 1)
};

/// With z = scores + bias and p = softmax(z) along each row, q the probabilities that the targets stand for:
///   losses = −Σ q·log p,  likelihoods = −log p of the class,  residual = p − q, the gradient of a loss in its scores.
/// 0 where a row has no class. bias (columns), likewise residual, may be null, and residual may be scores; scratch of
/// `columns` floats. NaN where a score of the row is NaN or +∞, or all are −∞.
template <class T>
void cross_entropy_rows(const T* scores, const float* bias, const CrossEntropyTargets& targets, float* losses,
                        float* likelihoods, T* residual, float* scratch, CrossEntropyShape shape);

// --- one element -----------------------------------------------------------------------------------------------------

/// The probability that the targets give to class i of a row whose class is `target`.
CACHET_HOST_DEVICE inline float wanted_probability(const CrossEntropyTargets& targets, int64_t i, int64_t target) {
  return targets.other + (i == target ? 1.0f - targets.smoothing - targets.other : 0.0f);
}

}  // namespace cachet::kernels
