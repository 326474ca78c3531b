#pragma once

#include <cstdint>

namespace cachet::kernels {

/// Transposes `from` (rows, columns) into `to` (columns, rows). Their rows are from_stride and to_stride numbers apart.
void transpose(const float* from, int64_t from_stride, float* to, int64_t to_stride, int64_t rows, int64_t columns);

}  // namespace cachet::kernels
