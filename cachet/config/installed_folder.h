#pragma once

#include <filesystem>
#include <optional>
#include <vector>

namespace cachet::config {

/// The folders of this name that come with the running program, "recipes" or "data/fashion-mnist": those that exist, in
/// the order in which they count. They lie in share/cachet of its installation, or in its source tree.
std::vector<std::filesystem::path> installed_folders(const std::filesystem::path& name);

/// The first of them.
std::optional<std::filesystem::path> installed_folder(const std::filesystem::path& name);

}  // namespace cachet::config
