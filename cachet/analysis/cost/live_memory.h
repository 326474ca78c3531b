#pragma once

#include <c10/util/ThreadLocalDebugInfo.h>

#include <cstdint>
#include <memory>

namespace cachet::analysis {

/// Counts the bytes of tensors that this thread (with its helper threads) allocates and frees during the counter's
/// lifetime. Tensors that existed before the counter are not counted, not even when they are freed.
class LiveMemory {
 public:
  LiveMemory();

  int64_t live_bytes() const;
  int64_t peak_bytes() const;  // largest live_bytes() since construction or the last restart_peak()
  void restart_peak();

 private:
  struct Counter;
  std::shared_ptr<Counter> counter_;
  c10::DebugInfoGuard guard_;
};

}  // namespace cachet::analysis
