#pragma once

#include <filesystem>
#include <optional>
#include <vector>

namespace cachet::config {

/// Returns the existing folders of this name that come with the running program ("recipes" or "data/fashion-mnist"), in
/// the order of precedence. The folders are in share/cachet of its installation, or in its source tree.
std::vector<std::filesystem::path> installed_folders(const std::filesystem::path& name);

/// Returns the first folder of installed_folders(), or an empty value if there is none.
std::optional<std::filesystem::path> installed_folder(const std::filesystem::path& name);

}  // namespace cachet::config
