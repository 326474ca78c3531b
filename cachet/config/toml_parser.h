#pragma once

#include <string>
#include <string_view>

#include "cachet/config/node.h"

namespace cachet::config {

/// Parses a TOML 1.0 text as a table. `source` is the name of the text in origins and errors. If the text is not UTF-8,
/// not TOML, or nested deeper than `kMaxNesting`, throws Error with the number of the line.
Node parse_toml(std::string_view text, const std::string& source);

}  // namespace cachet::config
