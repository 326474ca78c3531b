#pragma once

#include <string>
#include <string_view>

#include "cachet/config/node.h"

namespace cachet::config {

/// The table that a TOML 1.0 text describes. `source` is what origins and errors call the text.
/// Throws Error, naming a line, for text that is not UTF-8, not TOML, or nested deeper than `kMaxNesting`.
Node parse_toml(std::string_view text, const std::string& source);

}  // namespace cachet::config
