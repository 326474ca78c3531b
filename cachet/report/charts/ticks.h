#pragma once

#include <string>
#include <vector>

namespace cachet::report {

struct Ticks {
  std::vector<double> positions;  // ascending
  std::vector<std::string> labels;
};

/// Multiples of 1, 2, 2.5 or 5 times a power of ten that lie in [least, most]: at most `count`, at least two where the
/// range is not empty and count is 4 or more. Labels have only as many decimals as they need to differ. `whole`: of
/// whole numbers alone, of which a short range may hold fewer.
Ticks linear_ticks(double least, double most, int count, bool whole = false);

/// Powers of ten in [least, most] (both > 0), with 2 and 5 times them where the range is short, every nth where long.
Ticks logarithmic_ticks(double least, double most, int count);

}  // namespace cachet::report
