#pragma once

#include <filesystem>

namespace cachet::io {

/// Returns the path without the last separator, which a shell's completion adds to a folder's name, so that filename()
/// is the name of the folder.
inline std::filesystem::path without_last_separator(const std::filesystem::path& path) {
  return path.has_filename() || path == path.root_path() ? path : path.parent_path();
}

}  // namespace cachet::io
