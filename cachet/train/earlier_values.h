#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cachet::train {

/// Some options are newer than runs, model folders and exports that are still read. What they were made with is as a
/// rule the default of such an option. If it is not, this gives the value that they were made with, as TOML; nothing
/// for other keys.
std::optional<std::string> earlier_value(const std::string& key);

/// Whether version 0.1.0 did not have the key of a recipe. Keys that have no default need not be known here.
bool is_newer_than_0_1_0(std::string_view key);

}  // namespace cachet::train
