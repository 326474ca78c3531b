#pragma once

#include <filesystem>

namespace cachet::hub {

/// Creates a folder of the cache and its parents if they do not exist. Throws io::Error with the name of the folder.
void make_folders(const std::filesystem::path& folder);

}  // namespace cachet::hub
