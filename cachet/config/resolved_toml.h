#pragma once

#include <string>
#include <vector>

#include "cachet/config/document.h"

namespace cachet::config {

/// Returns values as one TOML file. with_origins adds `# origin` after each value.
std::string resolved_toml(const std::vector<Document::Value>& values, bool with_origins);

}  // namespace cachet::config
