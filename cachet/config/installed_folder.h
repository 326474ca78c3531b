#pragma once

#include <filesystem>
#include <optional>
#include <vector>

namespace cachet::config {

/// Returns the existing folders called `name` ("recipes", "data/fashion-mnist") that come with the running program, in
/// order of precedence. The folders are below share/cachet of the installation, or in the source tree.
std::vector<std::filesystem::path> installed_folders(const std::filesystem::path& name);

/// Returns the first folder of installed_folders(), or an empty value if there is none.
std::optional<std::filesystem::path> installed_folder(const std::filesystem::path& name);

}  // namespace cachet::config
