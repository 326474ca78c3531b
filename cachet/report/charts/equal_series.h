#pragma once

#include <string>
#include <vector>

#include "cachet/report/content.h"

namespace cachet::report {

/// Merges series with equal points into one series, at the position of the first of these series. The name of a merged
/// series contains the number of its series: "all 25 layers", "blocks.0.norm1 and 3 more". `many` is the plural noun
/// for series in the names of merged series, such as "layers".
std::vector<Series> equal_series_joined(const std::vector<Series>& series, const std::string& many);

}  // namespace cachet::report
