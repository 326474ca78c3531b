#include "app/arguments/number_option.h"

#include <charconv>
#include <cmath>
#include <system_error>

#include "cachet/report/format.h"

namespace cachet::app {
namespace {

template <class Number>
std::string text_of(Number number) {
  if constexpr (std::integral<Number>)
    return std::to_string(number);
  else
    return report::format_number(number, 6);
}

/// "a whole number from 1 to 4096", "a number of at least 0".
template <class Number>
std::string wanted(const NumberRange<Number>& range) {
  std::string text = std::integral<Number> ? "a whole number" : "a number";
  const bool has_least = range.least > std::numeric_limits<Number>::lowest() || std::integral<Number>;
  const bool has_most = range.most < std::numeric_limits<Number>::max() || std::integral<Number>;
  if (has_least && has_most) return text + " from " + text_of(range.least) + " to " + text_of(range.most);
  if (has_least) return text + " of at least " + text_of(range.least);
  if (has_most) return text + " of at most " + text_of(range.most);
  return text;
}

template <class Number>
std::optional<Number> parsed(std::string_view word) {
  if (word.starts_with('+')) word.remove_prefix(1);
  Number number{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  if constexpr (!std::integral<Number>)
    if (!std::isfinite(number)) return std::nullopt;
  return number;
}

}  // namespace

template <class Number>
CLI::Validator number_within(NumberRange<Number> range) {
  const auto check = [range](std::string& word) -> std::string {
    const auto number = parsed<Number>(word);
    if (!number || *number < range.least || *number > range.most)
      return "must be " + wanted(range) + ", not '" + word + "'";
    if constexpr (std::integral<Number>) word = std::to_string(*number);  // without a sign or zeros before it
    return "";
  };
  return {check, ""};
}
template CLI::Validator number_within(NumberRange<int>);
template CLI::Validator number_within(NumberRange<int64_t>);
template CLI::Validator number_within(NumberRange<uint64_t>);
template CLI::Validator number_within(NumberRange<double>);

void refuse_empty_values(CLI::App& app) {
  for (CLI::Option* option : app.get_options([](const CLI::Option* each) {
         return !each->get_positional() && each->get_expected_max() > 0 && !each->check_lname("prompt");
       }))
    option->check([](const std::string& word) { return std::string(word.empty() ? "must not be empty" : ""); });
  for (CLI::App* below : app.get_subcommands([](const CLI::App*) { return true; })) refuse_empty_values(*below);
}

}  // namespace cachet::app
