#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cachet::report {

/// A field as RFC 4180 writes it: quoted where it holds a comma, a quote, a line break, or blanks at its ends.
std::string csv_field(std::string_view text);

/// One record with its line end (CR LF, as the RFC has it, so that one file never mixes the two).
std::string csv_line(const std::vector<std::string>& fields);

/// The shortest decimal form that reads back as the same number, whatever the locale; "nan", "inf", "-inf" otherwise.
std::string csv_number(double value);

}  // namespace cachet::report
