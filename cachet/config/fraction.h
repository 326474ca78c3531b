#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cachet::config {

/// A count, or a fraction of a count that is not known yet.
struct CountOrFraction {
  int64_t count = 0;
  double percent = 0;  // a fraction in percent, if above 0; `count` is then not used
};

/// Reads "10 %" as 10; accepts any number. Returns an empty value for a text of another form.
std::optional<double> parse_percent(std::string_view text);

/// Returns the shortest text that parse_percent() reads as this number: "12.5 %".
std::string percent_text(double percent);

/// Returns `percent` percent of `whole`, rounded down, and at least 1.
int64_t settled_count(double percent, int64_t whole);

}  // namespace cachet::config
