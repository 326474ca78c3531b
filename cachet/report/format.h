#pragma once

#include <cstdint>
#include <string>

/// Numbers for people. Never depends on the locale. Values that are not finite give "nan", "inf" or "-inf".
namespace cachet::report {

/// Three significant digits and a decimal prefix: 950, 3.00 M, 22.1 M, 1.86 G.
std::string format_count(double count);

/// The same without a space and with two significant digits, for narrow lines: 950, 2.8k, 28k, 280k, 1.2M.
std::string format_short_count(double count);

/// Binary prefixes: 512 B, 4.7 GiB.
std::string format_bytes(int64_t bytes);

/// 312 ms, 4.2 s, 1m05s, 1h02m, 3d04h. Below a millisecond: 85 µs.
std::string format_duration(double seconds);

/// A fraction as a percentage: 0.8741 gives "87.4 %".
std::string format_percent(double fraction, int decimals = 1);

/// `digits` significant digits, without trailing zeros; an exponent only below 1e-4 or from 1e6: 0.25, 3e-05, 1234.5.
std::string format_number(double value, int digits = 4);

/// A fixed number of decimals: 0.50.
std::string format_fixed(double value, int decimals);

}  // namespace cachet::report
