#pragma once

#include <limits>

namespace cachet::config {

/// The inclusive range of valid numbers.
template <class Number>
struct Range {
  Number least = std::numeric_limits<Number>::lowest();
  Number most = std::numeric_limits<Number>::max();
  bool least_excluded = false;  // (0, 1] is {0, 1, true}

  bool contains(Number value) const { return (least_excluded ? value > least : value >= least) && value <= most; }
};

}  // namespace cachet::config
