#pragma once

#include <string>
#include <vector>

namespace cachet::report {

struct Ticks {
  std::vector<double> positions;  // ascending
  std::vector<std::string> labels;
};

/// Returns multiples of 1, 2, 2.5 or 5 times a power of ten in [least, most]: at most `count`, and at least two if the
/// range is not empty and count is 4 or more. Labels have only as many decimals as they need to differ. If `whole` is
/// set, all ticks are whole numbers, and a short range may have fewer than two of them.
Ticks linear_ticks(double least, double most, int count, bool whole = false);

/// Returns at most `count` ticks in [least, most] (both > 0): powers of ten. Short ranges also have ticks at 2 and 5
/// times (or only 3 times) each power of ten. In long ranges, only every second, third, … power of ten is a tick.
Ticks logarithmic_ticks(double least, double most, int count);

}  // namespace cachet::report
