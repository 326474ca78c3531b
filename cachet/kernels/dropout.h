#pragma once

#include <cstdint>

#include "cachet/kernels/bfloat16.h"
#include "cachet/kernels/host_device.h"
#include "cachet/kernels/philox.h"

namespace cachet::kernels {

/// Which elements of a tensor dropout keeps, each by itself with probability (last + 1) / 2³²: those whose random word
/// is at most `last`. Word i is a function of (seed, i) alone: of group i / 64, word (i % 64) / 16 of Philox's counter
/// 16·group + i % 16, whatever the vectors' width.
struct DropoutMask {
  uint64_t seed;
  uint32_t last;
};

/// Elements whose words are made together, where a piece of a tensor may begin, and Philox's counters for them.
inline constexpr int64_t kDropoutGroup = 64, kDropoutCounters = kDropoutGroup / 4;

/// out[i] = scale·x[i] where element first + i is retained, else 0, also for NaN; first is a multiple of kDropoutGroup.
/// out may be x.
template <class T>
void dropout(const T* x, T* out, DropoutMask mask, float scale, int64_t first, int64_t count);

/// `kept[i]`: whether element first + i is retained.
void kept_by_dropout(DropoutMask mask, int64_t first, int64_t count, bool* kept);

// --- one element -----------------------------------------------------------------------------------------------------

/// Whether element i is retained.
CACHET_HOST_DEVICE inline bool is_kept(DropoutMask mask, int64_t i) {
  const Philox::Words four =
      Philox::words(static_cast<uint64_t>(i / kDropoutGroup * kDropoutCounters + i % kDropoutCounters), mask.seed);
  return four[i % kDropoutGroup / kDropoutCounters] <= mask.last;
}

}  // namespace cachet::kernels
