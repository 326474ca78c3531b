#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>

#include "cachet/data/text/listops/listops_draw.h"

namespace cachet::data {

/// Statistics of generated expressions.
struct ListOpsStatistics {
  static constexpr int64_t kLengthBins = 30;  // bins of equal width between the length bounds

  std::array<int64_t, kLengthBins> lengths{};
  std::array<int64_t, 4> operators{};  // number of each operator, in the order of kListOpsOperators
  std::array<int64_t, 10> values{};
  int64_t attempts = 0;  // number of draws, including rejected ones

  void add(const ListOpsExpression& expression, const ListOpsOptions& options);
};

/// A function that receives one generated expression. The function may throw an exception to stop the generation.
using TakeListOps = std::function<void(int64_t index, const ListOpsExpression& expression)>;

/// A function that is called after every few thousand attempts with the number of expressions generated so far. The
/// function may throw an exception to stop the generation.
using WatchListOps = std::function<void(int64_t done)>;

/// Generates options.size() different random expressions. The first expressions (indices 0 … train − 1) are for
/// training, the next ones for validation, and the last ones for the test. The result does not depend on the number of
/// threads. Throws std::runtime_error if there are too few expressions with the lengths in `options`, or if new
/// expressions are so rare that some seconds pass without a new one.
ListOpsStatistics generate_listops(const ListOpsOptions& options, const TakeListOps& take,
                                   const WatchListOps& watch = {});

}  // namespace cachet::data
