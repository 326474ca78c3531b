#pragma once

#include <c10/util/Exception.h>

#include <cstdint>

namespace cachet::nn {

/// Throws c10::Error unless `value` is at least 1. The message begins with `name`. Example: "feed_forward: dim".
inline void check_positive(const char* name, int64_t value) {
  TORCH_CHECK(value >= 1, name, " must be at least 1, got ", value);
}

/// Throws c10::Error unless `rate` is in [0, 1).
inline void check_dropout(const char* name, double rate) {
  TORCH_CHECK(rate >= 0 && rate < 1, name, " must be at least 0 and below 1, got ", rate);
}

}  // namespace cachet::nn
