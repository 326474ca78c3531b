#pragma once

#include <c10/core/ScalarType.h>

namespace cachet::io {

/// Whether every value of `from` is a value of `to`: float32 into float64, bfloat16 into float32, uint8 into float16,
/// but not float16 into bfloat16 nor int64 into float64.
bool converts_exactly(at::ScalarType from, at::ScalarType to);

}  // namespace cachet::io
