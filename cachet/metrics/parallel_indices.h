#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace cachet::metrics {

/// Calls work(i) for i = 0 … count − 1, on `threads` threads. If work(i) throws for some i, all other calls still run,
/// and the exception of the lowest such i is thrown afterwards.
template <class Work>
void parallel_indices(int64_t count, int threads, const Work& work) {
  std::atomic<int64_t> next = 0;
  std::mutex mutex;
  std::exception_ptr error;
  int64_t failed = count;
  const auto run = [&] {
    for (int64_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (i < failed) {
          failed = i;
          error = std::current_exception();
        }
      }
    }
  };
  {
    std::vector<std::jthread> others;
    for (int64_t t = 1; t < std::min<int64_t>(threads, count); ++t) others.emplace_back(run);
    run();
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace cachet::metrics
