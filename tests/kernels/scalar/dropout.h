#pragma once

#include "cachet/kernels/dropout.h"

namespace cachet::kernels::scalar {

// The kernels of this name as loops over their element functions.

template <class T>
void dropout(const T* x, T* out, DropoutMask mask, float scale, int64_t first, int64_t count) {
  for (int64_t i = 0; i < count; ++i) out[i] = from_float<T>(is_kept(mask, first + i) ? scale * to_float(x[i]) : 0.0f);
}

}  // namespace cachet::kernels::scalar
