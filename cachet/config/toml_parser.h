#pragma once

#include <string>
#include <string_view>

#include "cachet/config/node.h"

namespace cachet::config {

/// The table that a TOML 1.0 text describes. `source` is what origins and errors call the text.
/// Throws Error, naming a line, for what is no UTF-8, no TOML, or nested deeper than `kMostNesting`.
Node parse_toml(std::string_view text, const std::string& source);

}  // namespace cachet::config
