#pragma once

#include <cstdint>

#include "cachet/kernels/bfloat16.h"

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

/// out[i] = scale·x[i] where element first + i is kept, else 0, also for NaN; first is a multiple of kDropoutGroup.
/// out may be x.
template <class T>
void dropout(const T* x, T* out, DropoutMask mask, float scale, int64_t first, int64_t count);

/// kept[i]: whether element first + i is kept.
void kept_by_dropout(DropoutMask mask, int64_t first, int64_t count, bool* kept);

namespace scalar {

// The same, one element at a time: what the kernel above is tested against.
template <class T>
void dropout(const T* x, T* out, DropoutMask mask, float scale, int64_t first, int64_t count);

}  // namespace scalar
}  // namespace cachet::kernels
