#pragma once

#include <string>
#include <vector>

#include "cachet/report/content.h"

namespace cachet::report {

/// Series whose lines lie on each other become one that says how many it stands for, where the first of them stood:
/// "all 25 layers", "blocks.0.norm1 and 3 more". `many` are what the series are: "layers".
std::vector<Series> equal_series_joined(const std::vector<Series>& series, const std::string& many);

}  // namespace cachet::report
