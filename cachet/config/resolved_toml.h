#pragma once

#include <string>
#include <vector>

#include "cachet/config/document.h"

namespace cachet::config {

/// Returns the text of one TOML file with these values. with_origins adds `# origin` after each value.
std::string resolved_toml(const std::vector<Document::Value>& values, bool with_origins);

}  // namespace cachet::config
