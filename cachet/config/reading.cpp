#include "cachet/config/reading.h"

#include <charconv>
#include <cmath>
#include <system_error>

#include "cachet/config/near_names.h"
#include "cachet/config/toml_text.h"

namespace cachet::config {
namespace {

/// "must be at least 1", "must be above 0 and at most 1".
template <class Number>
std::string demand(const Range<Number>& range) {
  const bool has_least = range.least_excluded || range.least > std::numeric_limits<Number>::lowest();
  const bool has_most = range.most < std::numeric_limits<Number>::max();
  std::string text = "must be ";
  if (has_least) text += (range.least_excluded ? "above " : "at least ") + toml_text(range.least);
  if (has_least && has_most) text += " and ";
  if (has_most) text += "at most " + toml_text(range.most);
  return text;
}

template <class Number>
Reading<Number> within(Number value, const Range<Number>& range) {
  if (range.contains(value)) return {value, ""};
  return {std::nullopt, demand(range) + ", not " + toml_text(value)};
}

/// Whether a text is a number that no `Number` can hold. TOML refuses it, and --set takes it as a text then.
template <class Number>
bool is_beyond(const std::string& text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc::result_out_of_range && end == text.data() + text.size();
}

}  // namespace

Reading<bool> read_boolean(const Node& node) {
  if (const bool* value = std::get_if<bool>(&node.value)) return {*value, ""};
  return {std::nullopt, "must be true or false, not " + describe(node)};
}

Reading<int64_t> read_integer(const Node& node, const Range<int64_t>& range) {
  if (const int64_t* value = std::get_if<int64_t>(&node.value)) return within(*value, range);
  if (const std::string* text = std::get_if<std::string>(&node.value); text && is_beyond<int64_t>(*text))
    return {std::nullopt, "must be an integer from -2^63 to 2^63 - 1, not " + *text};
  return {std::nullopt, "must be an integer, not " + describe(node)};
}

Reading<std::array<int64_t, 2>> read_pair(const Node& node, const Range<int64_t>& range) {
  using Pair = std::array<int64_t, 2>;
  if (!std::holds_alternative<List>(node.value)) {
    const auto both = read_integer(node, range);
    return both.value ? Reading<Pair>{Pair{*both.value, *both.value}, ""} : Reading<Pair>{{}, both.complaint};
  }
  const auto read = read_list<int64_t>(node, "integers", [&](const Node& item) { return read_integer(item, range); });
  if (!read.value) return {std::nullopt, read.complaint};
  const std::vector<int64_t>& list = *read.value;
  if (list.empty() || list.size() > 2)
    return {std::nullopt, "must be one number or two, not " + std::to_string(list.size())};
  return {Pair{list.front(), list.back()}, ""};
}

Reading<double> read_real(const Node& node, const Range<double>& range) {
  if (const int64_t* value = std::get_if<int64_t>(&node.value)) return within(static_cast<double>(*value), range);
  const double* value = std::get_if<double>(&node.value);
  if (const std::string* text = std::get_if<std::string>(&node.value); text && is_beyond<double>(*text))
    return {std::nullopt, "must be a finite number, not " + *text};
  if (value == nullptr) return {std::nullopt, "must be a number, not " + describe(node)};
  if (!std::isfinite(*value)) return {std::nullopt, "must be a finite number, not " + describe(node)};
  return within(*value, range);
}

Reading<CountOrFraction> read_count_or_fraction(const Node& node, const Range<int64_t>& range, std::string_view whole) {
  if (std::holds_alternative<int64_t>(node.value)) {
    const Reading<int64_t> count = read_integer(node, range);
    return count.value ? Reading<CountOrFraction>{CountOrFraction{*count.value}, ""}
                       : Reading<CountOrFraction>{std::nullopt, count.complaint};
  }
  const std::string* text = std::get_if<std::string>(&node.value);
  const std::optional<double> percent = text ? parse_percent(*text) : std::nullopt;
  if (!percent)
    return {std::nullopt,
            "must be an integer, or a fraction of " + std::string(whole) + " such as \"10 %\", not " + describe(node)};
  if (*percent > 0 && *percent <= 100) return {CountOrFraction{0, *percent}, ""};
  return {std::nullopt, "must be above 0 % and at most 100 %, not \"" + *text + "\""};
}

Reading<std::string> read_text(const Node& node) {
  if (const auto* value = std::get_if<std::string>(&node.value)) {
    // A path and the text of an exception end at it.
    if (value->find('\0') != std::string::npos) return {std::nullopt, "must not have the character U+0000"};
    return {*value, ""};
  }
  const bool quotable = node.table() == nullptr && !std::holds_alternative<List>(node.value);
  return {std::nullopt, "must be a text, not " + describe(node) + (quotable ? "; put it in quotes" : "")};
}

Reading<size_t> read_word(const Node& node, std::span<const std::string_view> words) {
  const auto* word = std::get_if<std::string>(&node.value);
  std::vector<std::string> known;
  std::string list;
  for (size_t i = 0; i < words.size(); ++i) {
    if (word != nullptr && *word == words[i]) return {i, ""};
    known.emplace_back(words[i]);
    list += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + toml_text(words[i]);
  }
  return {std::nullopt,
          "must be " + list + ", not " + describe(node) + (word != nullptr ? suggestion(*word, known) : "")};
}

}  // namespace cachet::config
