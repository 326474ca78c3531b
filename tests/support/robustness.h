#pragma once

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace cachet::test {

/// How many of `full` cases a robustness test runs: all of them where CACHET_ROBUSTNESS is "full" (`make robustness`),
/// otherwise the `share` of them that CI has time for, `least` at least. Such tests' names end in "Robustness".
inline int robustness_cases(int full, double share, int least) {
  const char* size = std::getenv("CACHET_ROBUSTNESS");
  if (size != nullptr && std::string_view(size) == "full") return full;
  return std::max(least, static_cast<int>(full * share));
}

}  // namespace cachet::test
