#pragma once

#include <string>
#include <vector>

#include "cachet/config/document.h"

namespace cachet::config {

/// Returns the text of one TOML file with `values`. If `with_origins` is set, adds `# origin` after each value.
std::string resolved_toml(const std::vector<Document::Value>& values, bool with_origins);

}  // namespace cachet::config
