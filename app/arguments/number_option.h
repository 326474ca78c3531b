#pragma once

#include <CLI/App.hpp>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace cachet::app {

/// The numbers that an option takes. Whole ones are 0 or more unless `least` is lower.
template <class Number>
struct NumberRange {
  Number least = std::integral<Number> ? Number{0} : std::numeric_limits<Number>::lowest();
  Number most = std::numeric_limits<Number>::max();
};

/// Takes a decimal number of the range, with nothing around it, and gives it to the parser as a plain one. Anything
/// else is refused word for word: an empty text, NaN and infinity, a number that the type cannot hold, another base.
/// The parser's own reading takes the nearest number that the type can hold, −1 for 2^64 − 1, and an empty text for
/// none.
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

/// Adds an option that takes a number, or several: every option that does is added here. `value` may be an optional or
/// a vector.
template <class Value>
CLI::Option* add_number(CLI::App& app, const std::string& names, Value& value, const std::string& help,
                        NumberRange<typename NumberOf<Value>::Type> range = {}) {
  return app.add_option(names, value, help)->transform(number_within(range));
}

/// Refuses an empty text for every option of `app` and its subcommands but --prompt: an option that is given and has
/// nothing would count as one that is not given.
void refuse_empty_values(CLI::App& app);

}  // namespace cachet::app
