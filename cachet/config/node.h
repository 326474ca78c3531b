#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cachet/config/problem.h"

namespace cachet::config {

struct Node;
using Table = std::map<std::string, Node, std::less<>>;
using List = std::vector<Node>;
struct DateOrTime {};  // a date or time of TOML: recipes do not allow it, and only the error message needs the type

/// A value of a TOML document and its origin.
struct Node {
  std::variant<Table, List, bool, int64_t, double, std::string, DateOrTime> value;
  Origin origin;
  bool left_behind =
      false;  // whether a later recipe replaced the `kind` or `name` that this key belongs to; such a key may be unread

  Table* table() { return std::get_if<Table>(&value); }
  const Table* table() const { return std::get_if<Table>(&value); }
};

/// Returns the node at a dotted path ("model.cache.ratio"; "" is the root itself), or null if there is no such node.
const Node* find(const Node& root, std::string_view path);

/// Returns the description of a value for messages: `0.5`, `the text "abc"`, `a table`. Long texts are cut.
std::string describe(const Node& node);

/// Joins a table's path and a key: "a.b" and "c" give "a.b.c"; "" and "c" give "c".
std::string join_path(std::string_view table, std::string_view key);

}  // namespace cachet::config
