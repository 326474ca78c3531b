#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <string>

#include "tests/support/peak_memory.h"
#include "tests/support/thrown_message.h"

namespace cachet::test {

/// What a refusal may cost: 64 MiB of memory beyond what was read, and 10 ms where that is under a megabyte.
constexpr uint64_t kRefusalMemory = uint64_t{64} << 20;
constexpr double kRefusalMilliseconds = 10;

inline double processor_milliseconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return 1e3 * static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_nsec);
}

/// thrown_message() of a call that reads `bytes`, which must not cost more than the constants above. The time is the
/// processor's, the best of three calls: the first may set tables up, and other work is not its fault. Sanitizers
/// change both, so that nothing is checked under them; nor is memory where the kernel does not count it.
template <class Exception, class Call>
std::string cheap_refusal([[maybe_unused]] uint64_t bytes, Call&& call) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return thrown_message<Exception>(call);
#else
  std::string message;
  const bool counted = reset_peak_memory();
  const uint64_t before = peak_memory();
  double best = 1e9;
  for (int i = 0; i < 3 && best >= kRefusalMilliseconds; ++i) {
    const double start = processor_milliseconds();
    message = thrown_message<Exception>(call);
    best = std::min(best, processor_milliseconds() - start);
  }
  if (counted) {
    EXPECT_LE(peak_memory(), before + bytes + kRefusalMemory);
  }
  if (bytes < 1'000'000) {
    EXPECT_LT(best, kRefusalMilliseconds);
  }
  return message;
#endif
}

}  // namespace cachet::test
