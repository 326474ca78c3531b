#include "cachet/config/fraction.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

namespace cachet::config {
namespace {

constexpr std::string_view kUnit = " %";

}  // namespace

std::optional<double> parse_percent(std::string_view text) {
  if (!text.ends_with(kUnit)) return std::nullopt;
  const char* const end = text.data() + text.size() - kUnit.size();
  double percent = 0;
  const auto [rest, error] = std::from_chars(text.data(), end, percent, std::chars_format::fixed);
  if (error != std::errc() || rest != end || !std::isfinite(percent)) return std::nullopt;
  return percent;
}

std::string percent_text(double percent) {
  std::array<char, 400> digits{};
  const auto [end, error] =
      std::to_chars(digits.data(), digits.data() + digits.size(), percent, std::chars_format::fixed);
  return std::string(digits.data(), error == std::errc() ? end : digits.data()) + std::string(kUnit);
}

int64_t settled_count(double percent, int64_t whole) {
  constexpr double kRounding = 1e-9;  // 0.1 % of 3,000 is 3, whatever the digits of 0.1 in binary
  const double part = percent * static_cast<double>(whole) / 100;
  return std::max<int64_t>(1, static_cast<int64_t>(std::floor(part * (1 + kRounding))));
}

}  // namespace cachet::config
