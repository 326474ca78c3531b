#pragma once

#include <string_view>

#include "cachet/config/node.h"

namespace cachet::config {

/// The table that a `--set` option describes: "model.cache.ratio=0.25" is {model = {cache = {ratio = 0.25}}}.
///
/// The right side is a TOML value; what is none and does not begin like a text, list or table is taken as a text, as in
/// "model.cache.kind=grc" or "train.limit=500 steps". Throws Error for what is no assignment.
Node parse_assignment(std::string_view assignment);

}  // namespace cachet::config
