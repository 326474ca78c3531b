#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cachet/config/node.h"

namespace cachet::config {

/// Returns the table that a `--set` option describes: {model = {cache = {ratio = 0.25}}} for "model.cache.ratio=0.25".
///
/// The text after the "=" is a TOML value. Text that is not a TOML value becomes a string ("model.cache.kind=grc",
/// "train.limit=500 steps"), unless it begins like a string, list or table. The value gets the origin `source`. The
/// tables that contain the value get the origin "--set". Throws Error if the text is not an assignment.
Node parse_assignment(std::string_view assignment, std::string_view source = kSetSource);

/// Returns the `--set` options that together describe a table: one for each value and each empty table, in the order of
/// the keys. Throws Error for a date, a table in a list or a key with quotes: no option can express these.
std::vector<std::string> assignments_of(const Node& table);

/// Returns a value in the form of an option: 0.25, "grc", [1, 2]. Throws Error for tables and dates, also in lists.
std::string assigned_text(const Node& value);

}  // namespace cachet::config
