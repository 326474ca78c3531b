#pragma once

#include <cstdint>

#include "cachet/kernels/bfloat16.h"
#include "cachet/kernels/host_device.h"
#include "cachet/kernels/philox.h"

namespace cachet::kernels {

/// The random mask of a dropout. The mask retains each element independently with probability (last + 1) / 2³²: element
/// i is retained if its random word is at most `last`. Random word i depends only on seed and i, not on the width of
/// the SIMD vectors: it is the output word with index (i % 64) / 16 of Philox with the counter 16·(i / 64) + i % 16.
struct DropoutMask {
  uint64_t seed;
  uint32_t last;
};

/// Number of elements whose random words are computed together, and number of Philox counters for these elements.
inline constexpr int64_t kDropoutGroup = 64, kDropoutCounters = kDropoutGroup / 4;

/// Computes out[i] = scale·x[i] if element first + i is retained, or else 0 (even if x[i] is NaN). `first` must be a
/// multiple of kDropoutGroup. out and x may be the same array.
template <class T>
void dropout(const T* x, T* out, DropoutMask mask, float scale, int64_t first, int64_t count);

/// Writes to `kept[i]` whether element first + i is retained.
void kept_by_dropout(DropoutMask mask, int64_t first, int64_t count, bool* kept);

// --- one element -----------------------------------------------------------------------------------------------------

/// Whether element i is retained.
CACHET_HOST_DEVICE inline bool is_kept(DropoutMask mask, int64_t i) {
  const Philox::Words four =
      Philox::words(static_cast<uint64_t>(i / kDropoutGroup * kDropoutCounters + i % kDropoutCounters), mask.seed);
  return four[i % kDropoutGroup / kDropoutCounters] <= mask.last;
}

}  // namespace cachet::kernels
