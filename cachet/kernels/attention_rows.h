#pragma once

#include <cstdint>

#include "cachet/kernels/bfloat16.h"

namespace cachet::kernels {

// Rows between the products of kernel attention. Totals are numerators and, behind them, the denominator: (rows, e + 1)
// of float32, dense. Rows of T lie `stride` numbers apart.

struct ValueRows {
  int64_t rows, width, stride;
};

/// with_ones (rows, width + 1) = [values, 1]; all zero where padding (rows, or null) is true.
template <class T>
void append_ones(const T* values, const bool* padding, float* with_ones, ValueRows shape);

/// divisors (rows) = denominator + eps, or 0 where that is not positive; out = numerators / divisor, 0 where it is 0.
template <class T>
void divide_totals(const float* totals, float eps, T* out, float* divisors, ValueRows shape);

/// d_totals (rows, width + 1) from what the division gave and its gradient, whose rows lie grad_stride apart.
template <class T>
void divide_totals_backward(const T* out, const float* divisors, const T* grad, int64_t grad_stride, float* d_totals,
                            ValueRows shape);

/// Zeroes what lies above the diagonal of a square matrix.
void clear_above_diagonal(float* square, int64_t size);

namespace scalar {

// The same, one element at a time: what the kernels above are tested against.
template <class T>
void append_ones(const T* values, const bool* padding, float* with_ones, ValueRows shape);
template <class T>
void divide_totals(const float* totals, float eps, T* out, float* divisors, ValueRows shape);
template <class T>
void divide_totals_backward(const T* out, const float* divisors, const T* grad, int64_t grad_stride, float* d_totals,
                            ValueRows shape);

}  // namespace scalar
}  // namespace cachet::kernels
