#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cachet::report {

/// Returns a field in the form of RFC 4180: in quotes if it has a comma, a quote, a line break, or a blank at an end.
std::string csv_field(std::string_view text);

/// Returns one record that ends with CR LF (RFC 4180). Because each record ends with CR LF, a file never mixes two
/// kinds of line ends.
std::string csv_line(const std::vector<std::string>& fields);

/// Returns the shortest decimal form that reads back as the same number, in any locale, or "nan", "inf" or "-inf".
std::string csv_number(double value);

}  // namespace cachet::report
