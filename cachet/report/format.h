#pragma once

#include <cstdint>
#include <string>

/// Formats numbers for people, independently of the locale. A value that is not finite gives "nan", "inf" or "-inf".
namespace cachet::report {

/// Formats a count with three significant digits and a decimal prefix: 950, 3.00 M, 22.1 M, 1.86 G.
std::string format_count(double count);

/// Formats a count for narrow lines, without a space and with two significant digits: 950, 2.8k, 28k, 280k, 1.2M.
std::string format_short_count(double count);

/// Formats a number of bytes with a binary prefix: 512 B, 4.7 GiB.
std::string format_bytes(int64_t bytes);

/// Formats a duration: 312 ms, 4.2 s, 1m05s, 1h02m, 3d04h. A duration below a millisecond is in microseconds: 85 µs.
std::string format_duration(double seconds);

/// Formats a fraction as a percentage: 0.8741 gives "87.4 %".
std::string format_percent(double fraction, int decimals = 1);

/// Writes `digits` significant digits, no trailing zeros, an exponent below 1e-4 or from 1e6: 0.25, 3e-05, 1234.5.
std::string format_number(double value, int digits = 4);

/// Formats a number with a fixed number of decimals: 0.50.
std::string format_fixed(double value, int decimals);

}  // namespace cachet::report
