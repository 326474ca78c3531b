#pragma once

#include <chrono>
#include <functional>
#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

#include "cachet/analysis/statistics.h"

namespace cachet::benchmarks {

/// A against B, called in turns in one process, so that what slows both cancels in the ratio of each pair.
struct Pair {
  std::string name;
  std::function<void()> a, b;
};

inline double milliseconds_of(const std::function<void()>& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

struct Measured {
  analysis::Quartiles a, b, ratio;  // milliseconds, milliseconds, a / b
};

/// Runs both twice to warm up, then `pairs` times in turns.
inline Measured measure(const Pair& pair, int pairs = 30) {
  for (int i = 0; i < 2; ++i) {
    pair.a();
    pair.b();
  }
  std::vector<double> a, b;
  for (int i = 0; i < pairs; ++i) {
    // Each goes first as often as the other.
    if (i % 2 == 0) a.push_back(milliseconds_of(pair.a));
    b.push_back(milliseconds_of(pair.b));
    if (i % 2 == 1) a.push_back(milliseconds_of(pair.a));
  }
  return {analysis::quartiles(a), analysis::quartiles(b), analysis::ratio_of_pairs(a, b)};
}

}  // namespace cachet::benchmarks
