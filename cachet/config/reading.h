#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cachet/config/fraction.h"
#include "cachet/config/node.h"
#include "cachet/config/range.h"

namespace cachet::config {

/// A node's value as type T, or the reason why the node is not of this type: "must be an integer, not true".
template <class T>
struct Reading {
  std::optional<T> value;
  std::string complaint;
};

Reading<bool> read_boolean(const Node& node);
Reading<int64_t> read_integer(const Node& node, const Range<int64_t>& range);
Reading<double> read_real(const Node& node, const Range<double>& range);
/// Reads an integer in `range`, or a fraction as a text, such as "10 %", in (0 %, 100 %]. `whole` is the noun that
/// messages have after "a fraction of".
Reading<CountOrFraction> read_count_or_fraction(const Node& node, const Range<int64_t>& range, std::string_view whole);
Reading<std::string> read_text(const Node& node);
Reading<size_t> read_word(const Node& node, std::span<const std::string_view> words);  // returns the word's index

/// Reads a list of two integers, or one integer that stands for both.
Reading<std::array<int64_t, 2>> read_pair(const Node& node, const Range<int64_t>& range);

/// Reads a list. `read_item` reads each item, and `items` is the plural noun of the items in messages.
template <class T, class ReadItem>
Reading<std::vector<T>> read_list(const Node& node, const char* items, ReadItem read_item) {
  const List* list = std::get_if<List>(&node.value);
  if (list == nullptr) {
    Reading<T> single = read_item(node);  // a single value stands for a list of one item
    if (single.value) return {std::vector<T>{*std::move(single.value)}, ""};
    return {std::nullopt, std::string("must be a list of ") + items + ", not " + describe(node)};
  }
  std::vector<T> values;
  for (const Node& item : *list) {
    Reading<T> reading = read_item(item);
    if (!reading.value) {
      return {std::nullopt, "item " + std::to_string(values.size() + 1) + " " + reading.complaint};
    }
    values.push_back(*std::move(reading.value));
  }
  return {std::move(values), ""};
}

}  // namespace cachet::config
