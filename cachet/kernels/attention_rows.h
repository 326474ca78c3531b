#pragma once

#include <cstdint>

#include "cachet/kernels/bfloat16.h"
#include "cachet/kernels/host_device.h"

namespace cachet::kernels {

// Rows between the products of kernel attention, float32 and dense unless of T, whose rows lie `stride` numbers apart.
// Totals are numerators (rows, e) and denominators (rows); of their gradient the latter lie after the former,
// (rows, e + 1).

struct ValueRows {
  int64_t rows, width, stride;
};

/// with_ones (rows, width + 1) = [values, 1]; all zero where padding (rows, or null) is true.
template <class T>
void append_ones(const T* values, const bool* padding, float* with_ones, ValueRows shape);

/// sums (rows) = rowsᵢ · vector, or += where `add`; rows of `width` numbers, `stride` apart. No vector: of ones.
void dot_rows(const float* matrix, const float* vector, bool add, float* sums, ValueRows shape);

/// divisors (rows) = denominator + eps, or 0 where that is not positive; out = numerators / divisor, 0 where it is 0.
template <class T>
void divide_totals(const float* numerators, const float* denominators, float eps, T* out, float* divisors,
                   ValueRows shape);

/// d_totals (rows, width + 1) from what the division gave and its gradient, whose rows lie grad_stride apart.
template <class T>
void divide_totals_backward(const T* out, const float* divisors, const T* grad, int64_t grad_stride, float* d_totals,
                            ValueRows shape);

/// Zeroes what lies above the diagonal of a square matrix.
void clear_above_diagonal(float* square, int64_t size);

// --- one element -----------------------------------------------------------------------------------------------------

/// A numerator over its divisor, 0 if the divisor is not positive.
CACHET_HOST_DEVICE inline float divided(float numerator, float divisor) {
  return divisor > 0 ? numerator / divisor : 0.0f;
}

}  // namespace cachet::kernels
