#pragma once

#include <filesystem>
#include <optional>
#include <vector>

namespace cachet::config {

/// Returns the existing folders of this name that come with the running program ("recipes" or "data/fashion-mnist"), by
/// precedence. They are in share/cachet of its installation, or in its source tree.
std::vector<std::filesystem::path> installed_folders(const std::filesystem::path& name);

/// Returns the first of these folders.
std::optional<std::filesystem::path> installed_folder(const std::filesystem::path& name);

}  // namespace cachet::config
