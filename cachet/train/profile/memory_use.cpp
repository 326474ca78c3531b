#include "cachet/train/profile/memory_use.h"

#include <algorithm>

namespace cachet::train {

MemoryUse with_growth(MemoryUse use, int64_t bytes, bool new_gradients) {
  use.activations = std::max<int64_t>(0, bytes - (new_gradients ? use.gradients : 0));
  use.is_peak_measured = false;
  return use;
}

MemoryUse with_peak(MemoryUse use, int64_t bytes) {
  use.activations = std::max<int64_t>(0, bytes - use.fixed());
  use.is_peak_measured = true;
  return use;
}

}  // namespace cachet::train
