#pragma once

#include <optional>
#include <string>

namespace cachet::train {

/// Some options are newer than runs, model folders and exports that are still read. What they were made with is as a
/// rule the default of such an option. If it is not, this gives the value that they were made with, as TOML; nothing
/// for other keys.
std::optional<std::string> earlier_value(const std::string& key);

}  // namespace cachet::train
