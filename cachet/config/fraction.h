#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cachet::config {

/// A count, given as a number or as a fraction of a total that is not known yet.
struct CountOrFraction {
  int64_t count = 0;
  double percent = 0;  // the fraction in percent; if it is above 0, `count` is not used
};

/// Reads a percentage of any size: 10 for "10 %". Returns an empty value if the text is not a percentage.
std::optional<double> parse_percent(std::string_view text);

/// Returns the shortest text that parse_percent() reads as exactly `percent`, such as "12.5 %".
std::string percent_text(double percent);

/// Returns `percent` percent of `whole`, rounded down, and at least 1.
int64_t settled_count(double percent, int64_t whole);

}  // namespace cachet::config
