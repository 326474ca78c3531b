#pragma once

#include <string>
#include <string_view>

#include "cachet/config/node.h"

namespace cachet::config {

/// Parses a TOML 1.0 text as a table. `source` is the name of the text in origins and errors. Throws Error, naming a
/// line, for text that is not UTF-8, not TOML, or nested deeper than `kMaxNesting`.
Node parse_toml(std::string_view text, const std::string& source);

}  // namespace cachet::config
