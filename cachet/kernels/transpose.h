#pragma once

#include <cstdint>

namespace cachet::kernels {

/// Transposes `from` (rows, columns) into `to` (columns, rows). The rows of `from` are from_stride numbers apart, and
/// the rows of `to` are to_stride numbers apart.
void transpose(const float* from, int64_t from_stride, float* to, int64_t to_stride, int64_t rows, int64_t columns);

}  // namespace cachet::kernels
