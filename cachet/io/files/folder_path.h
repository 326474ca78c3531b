#pragma once

#include <filesystem>

namespace cachet::io {

/// The path, without the separator that the completion of a shell adds to a folder's name: its filename() is that
/// of the folder.
inline std::filesystem::path without_last_separator(const std::filesystem::path& path) {
  return path.has_filename() || path == path.root_path() ? path : path.parent_path();
}

}  // namespace cachet::io
