#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cachet/config/node.h"

namespace cachet::config {

/// The table that a `--set` option describes: "model.cache.ratio=0.25" is {model = {cache = {ratio = 0.25}}}.
///
/// The right side is a TOML value; other text, unless it begins like a text, list or table, is taken as a text, as in
/// "model.cache.kind=grc" or "train.limit=500 steps". The value comes from `source`, the tables around it from "--set".
/// Throws Error for what is not an assignment.
Node parse_assignment(std::string_view assignment, std::string_view source = kSetSource);

/// The `--set` options that together describe a table, one for each value and each empty table in it, in the order of
/// their keys. Throws Error for a value that no option can have: a date, a table in a list, a key that needs quotes.
std::vector<std::string> assignments_of(const Node& table);

/// A value as an option has it: 0.25, "grc", [1, 2]. Throws Error for a table, a date, and a list that holds such.
std::string assigned_text(const Node& value);

}  // namespace cachet::config
