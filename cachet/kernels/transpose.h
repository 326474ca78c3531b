#pragma once

#include <cstdint>

namespace cachet::kernels {

/// to (columns, rows) = fromᵀ, from (rows, columns); rows of each lie `stride` numbers apart.
void transpose(const float* from, int64_t from_stride, float* to, int64_t to_stride, int64_t rows, int64_t columns);

}  // namespace cachet::kernels
