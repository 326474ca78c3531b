#include "cachet/report/format.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "cachet/report/csv.h"

namespace cachet::report {
namespace {

std::string without_trailing_zeros(std::string text) {
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

// Three significant digits of a value in [1, 1000).
std::string three_digits(double value) { return format_fixed(value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0); }

std::string two_figures(int64_t value) { return (value < 10 ? "0" : "") + std::to_string(value); }

}  // namespace

std::string format_fixed(double value, int decimals) {
  if (!std::isfinite(value)) return csv_number(value);
  std::array<char, 400> digits;  // the greatest double has 309 digits before the point
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::fixed,
                                 std::clamp(decimals, 0, 60));
  std::string text(digits.data(), end.ptr);
  const bool zero = text.find_first_of("123456789") == std::string::npos;
  return zero && text[0] == '-' ? text.substr(1) : text;
}

std::string format_number(double value, int digits) {
  if (!std::isfinite(value)) return csv_number(value);
  if (value == 0) return "0";
  digits = std::clamp(digits, 1, 17);
  std::array<char, 64> text;
  const auto scientific =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::scientific, digits - 1);
  const std::string rounded(text.data(), scientific.ptr);
  const size_t e = rounded.find('e');
  const int exponent = std::stoi(rounded.substr(e + 1));  // after rounding: 9.9996 has that of 10
  if (exponent >= -4 && exponent < 6) {
    return without_trailing_zeros(format_fixed(value, std::max(digits - 1 - exponent, 0)));
  }
  return without_trailing_zeros(rounded.substr(0, e)) + "e" + (exponent < 0 ? "-" : "") +
         two_figures(std::abs(exponent));
}

std::string format_count(double count) {
  if (!std::isfinite(count)) return csv_number(count);
  const std::string sign = count < 0 ? "-" : "";
  double value = std::abs(count);
  static constexpr std::array<const char*, 7> prefixes = {"", " k", " M", " G", " T", " P", " E"};
  size_t prefix = 0;
  while (value >= 999.5 && prefix + 1 < prefixes.size()) value /= 1000, ++prefix;
  return sign + (prefix == 0 ? format_number(value, 3) : three_digits(value)) + prefixes[prefix];
}

std::string format_short_count(double count) {
  if (!std::isfinite(count)) return csv_number(count);
  const std::string sign = count < 0 ? "-" : "";
  double value = std::abs(count);
  static constexpr std::array<const char*, 5> prefixes = {"", "k", "M", "G", "T"};
  size_t prefix = 0;
  while (value >= 999.5 && prefix + 1 < prefixes.size()) value /= 1000, ++prefix;
  return sign + without_trailing_zeros(format_fixed(value, value < 9.95 ? 1 : 0)) + prefixes[prefix];
}

std::string format_bytes(int64_t bytes) {
  double value = std::abs(static_cast<double>(bytes));
  static constexpr std::array<const char*, 7> units = {" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
  size_t unit = 0;
  while (value >= 1023.5 && unit + 1 < units.size()) value /= 1024, ++unit;
  const std::string number = unit == 0 || value >= 99.95 ? format_fixed(value, 0) : format_fixed(value, 1);
  return (bytes < 0 ? "-" : "") + number + units[unit];
}

std::string format_duration(double seconds) {
  if (!std::isfinite(seconds)) return csv_number(seconds);
  if (seconds < 0) return "-" + format_duration(-seconds);
  if (seconds == 0) return "0 s";
  if (seconds < 0.9995e-3) return without_trailing_zeros(three_digits(seconds * 1e6)) + " µs";
  if (seconds < 0.9995) return without_trailing_zeros(three_digits(seconds * 1e3)) + " ms";
  if (seconds < 59.95) return format_fixed(seconds, 1) + " s";
  if (seconds > 1e15) return format_number(seconds / 86400, 3) + " d";
  const int64_t whole = std::llround(seconds), minutes = std::llround(seconds / 60),
                hours = std::llround(seconds / 3600);
  if (whole < 3600) return std::to_string(whole / 60) + "m" + two_figures(whole % 60) + "s";
  if (minutes < 24 * 60) return std::to_string(minutes / 60) + "h" + two_figures(minutes % 60) + "m";
  return std::to_string(hours / 24) + "d" + two_figures(hours % 24) + "h";
}

std::string format_percent(double fraction, int decimals) {
  return std::isfinite(fraction) ? format_fixed(100 * fraction, decimals) + " %" : csv_number(fraction);
}

}  // namespace cachet::report
