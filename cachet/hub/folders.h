#pragma once

#include <filesystem>

namespace cachet::hub {

/// Creates a folder of the Hugging Face cache and its parent folders if they do not exist. If a folder cannot be
/// created, throws io::Error with the name of the folder.
void make_folders(const std::filesystem::path& folder);

}  // namespace cachet::hub
