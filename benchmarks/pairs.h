#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include "cachet/analysis/statistics/statistics.h"

namespace cachet::benchmarks {

using Call = std::function<void()>;

inline double milliseconds_of(const Call& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

/// Milliseconds of each of several calls, taken in turns in one process, so that what slows all of them cancels in the
/// ratios of one turn: times[call][turn].
inline std::vector<std::vector<double>> in_turns(const std::vector<Call>& calls, int turns) {
  std::vector<std::vector<double>> times(calls.size());
  for (int warm_up = 0; warm_up < 2; ++warm_up)
    for (const Call& call : calls) call();
  for (int turn = 0; turn < turns; ++turn)
    for (size_t i = 0; i < calls.size(); ++i) {
      const size_t which = turn % 2 == 0 ? i : calls.size() - 1 - i;  // each goes first as often as last
      times[which].push_back(milliseconds_of(calls[which]));
    }
  return times;
}

}  // namespace cachet::benchmarks
