#include "cachet/report/charts/equal_series.h"

#include <algorithm>

namespace cachet::report {

std::vector<Series> equal_series_joined(const std::vector<Series>& series, const std::string& many) {
  std::vector<Series> joined;
  std::vector<size_t> counts;
  for (const Series& one : series) {
    const auto same = std::ranges::find_if(joined, [&](const Series& other) {
      return other.x == one.x && other.y == one.y && other.deviation == one.deviation;
    });
    if (same == joined.end()) {
      joined.push_back(one);
      counts.push_back(1);
    } else {
      ++counts[static_cast<size_t>(same - joined.begin())];
    }
  }
  for (size_t i = 0; i < joined.size(); ++i) {
    if (counts[i] == 1) continue;
    joined[i].name = joined.size() == 1 ? "all " + std::to_string(counts[i]) + " " + many
                                        : joined[i].name + " and " + std::to_string(counts[i] - 1) + " more";
  }
  return joined;
}

}  // namespace cachet::report
