#pragma once

#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "cachet/analysis/statistics/statistics.h"

namespace cachet::benchmarks {

inline std::string number(double value, int digits = 2) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << value;
  return text.str();
}

inline std::string median(const std::vector<double>& times) { return number(analysis::quartiles(times).median); }

/// Prints a line of CSV; after its cells come those of a ratio, if there is one.
inline void print_row(std::vector<std::string> cells, const analysis::Quartiles* ratio = nullptr) {
  if (ratio)
    for (const double value : {ratio->median, ratio->lower, ratio->upper}) cells.push_back(number(value));
  const char* comma = "";
  for (const std::string& cell : cells) {
    const char* quote = cell.find(',') == std::string::npos ? "" : "\"";
    std::cout << comma << quote << cell << quote;
    comma = ",";
  }
  std::cout << std::endl;
}

}  // namespace cachet::benchmarks
