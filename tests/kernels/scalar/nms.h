#pragma once

#include "cachet/kernels/nms.h"

namespace cachet::kernels::scalar {

// The kernels of this name as loops over their element functions.

inline void nms(const BoxColumns& b, float threshold, uint8_t* kept, float*) {
  for (int64_t i = 0; i < b.count; ++i) {
    kept[i] = 1;
    for (int64_t k = 0; k < i && kept[i] != 0; ++k)
      if (kept[k] != 0 && removes(b, k, i, threshold)) kept[i] = 0;
  }
}

}  // namespace cachet::kernels::scalar
