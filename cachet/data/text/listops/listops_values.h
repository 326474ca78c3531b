#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "cachet/data/text/listops/listops.h"

namespace cachet::data {

/// The known values of the arguments of one operator.
struct ListOpsValues {
  Token operation = kListOpsMin;
  std::array<int32_t, 10> counts{};
  int64_t count = 0, sum = 0;

  void add(int value) {
    ++counts[static_cast<size_t>(value)];
    ++count;
    sum += value;
  }

  /// Returns the value at index `place` of the values in ascending order.
  int at(int64_t place) const {
    int value = 0;
    while ((place -= counts[static_cast<size_t>(value)]) >= 0) ++value;
    return value;
  }

  int result() const {
    if (operation == kListOpsMin) return at(0);
    if (operation == kListOpsMax) return at(count - 1);
    if (operation == kListOpsMedian) return (at((count - 1) / 2) + at(count / 2)) / 2;
    return static_cast<int>(sum % 10);
  }
};

}  // namespace cachet::data
