#pragma once

#include <CLI/App.hpp>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace cachet::app {

/// The range of numbers that an option accepts. Integers must be at least 0 unless `least` is lower.
template <class Number>
struct NumberRange {
  Number least = std::integral<Number> ? Number{0} : std::numeric_limits<Number>::lowest();
  Number most = std::numeric_limits<Number>::max();
};

/// Accepts a decimal number in the range, with no other characters, and passes it to the parser in plain form. Any
/// other word causes an error that quotes it: an empty text, NaN, infinity, a number that the type cannot hold, another
/// base. The parser alone would take the nearest number that the type can hold, −1 for 2^64 − 1, and an empty text as a
/// missing value.
template <class Number>
CLI::Validator number_within(NumberRange<Number> range);
extern template CLI::Validator number_within(NumberRange<int>);
extern template CLI::Validator number_within(NumberRange<int64_t>);
extern template CLI::Validator number_within(NumberRange<uint64_t>);
extern template CLI::Validator number_within(NumberRange<double>);

template <class Value>
struct NumberOf {
  using Type = Value;
};
template <class Value>
struct NumberOf<std::optional<Value>> : NumberOf<Value> {};
template <class Value>
struct NumberOf<std::vector<Value>> : NumberOf<Value> {};

/// Adds an option that takes one or several numbers. Every such option is added with this function. `value` may be an
/// optional or a vector.
template <class Value>
CLI::Option* add_number(CLI::App& app, const std::string& names, Value& value, const std::string& help,
                        NumberRange<typename NumberOf<Value>::Type> range = {}) {
  return app.add_option(names, value, help)->transform(number_within(range));
}

/// Rejects an empty text for every option of `app` and its subcommands except --prompt. Otherwise, an option with an
/// empty value would count as not given.
void refuse_empty_values(CLI::App& app);

}  // namespace cachet::app
