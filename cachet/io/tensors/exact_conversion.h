#pragma once

#include <c10/core/ScalarType.h>

namespace cachet::io {

/// Whether `to` can represent every value of `from`: true for float32 to float64, bfloat16 to float32 and uint8 to
/// float16; false for float16 to bfloat16 and int64 to float64.
bool converts_exactly(at::ScalarType from, at::ScalarType to);

}  // namespace cachet::io
