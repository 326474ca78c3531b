#pragma once

#include <c10/util/ThreadLocalDebugInfo.h>

#include <cstdint>
#include <memory>

namespace cachet::analysis {

/// While it lives, counts the bytes of tensors that this thread (and those that work for it) allocates and frees; what
/// was alive before counts nothing, and nothing when it is freed.
class LiveMemory {
 public:
  LiveMemory();

  int64_t live_bytes() const;
  int64_t peak_bytes() const;  // the most that were alive at once since construction or the last restart_peak()
  void restart_peak();

 private:
  struct Counter;
  std::shared_ptr<Counter> counter_;
  c10::DebugInfoGuard guard_;
};

}  // namespace cachet::analysis
