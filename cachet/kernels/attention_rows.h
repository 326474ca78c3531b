#pragma once

#include <cstdint>

#include "cachet/kernels/bfloat16.h"
#include "cachet/kernels/host_device.h"

namespace cachet::kernels {

// Row operations between the matrix products of kernel attention. Arrays of float are dense unless a comment gives a
// stride; rows of arrays of T are `stride` numbers apart. The totals are attention's numerators (rows, e) and
// denominators (rows). The gradient of the totals is (rows, e + 1): its last column is the denominators' gradient.

struct ValueRows {
  int64_t rows, width, stride;
};

/// Computes with_ones (rows, width + 1) = [values, 1], with zeros in rows whose padding is true. padding may be null.
template <class T>
void append_ones(const T* values, const bool* padding, float* with_ones, ValueRows shape);

/// Computes sumsᵢ = rowᵢ · vector (+= if `add`). Matrix rows are `stride` numbers apart. A null `vector` counts as a
/// vector of ones.
void dot_rows(const float* matrix, const float* vector, bool add, float* sums, ValueRows shape);

/// Per row: divisor = denominator + eps (0 unless the sum is > 0), out = numerators / divisor (0 if divisor is 0).
template <class T>
void divide_totals(const float* numerators, const float* denominators, float eps, T* out, float* divisors,
                   ValueRows shape);

/// Computes d_totals (rows, width + 1) from the quotients `out` and their gradient `grad` (rows grad_stride apart).
template <class T>
void divide_totals_backward(const T* out, const float* divisors, const T* grad, int64_t grad_stride, float* d_totals,
                            ValueRows shape);

/// Sets the elements above the diagonal of a square matrix to zero.
void clear_above_diagonal(float* square, int64_t size);

// --- one element -----------------------------------------------------------------------------------------------------

/// Returns numerator / divisor, or 0 if the divisor is not positive.
CACHET_HOST_DEVICE inline float divided(float numerator, float divisor) {
  return divisor > 0 ? numerator / divisor : 0.0f;
}

}  // namespace cachet::kernels
