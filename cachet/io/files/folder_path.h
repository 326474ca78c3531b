#pragma once

#include <filesystem>

namespace cachet::io {

/// Removes the separator at the end of a path ("runs/first/"), so that filename() returns the name of the folder.
/// Shells add a separator at the end of a folder's path when they complete the path.
inline std::filesystem::path without_last_separator(const std::filesystem::path& path) {
  return path.has_filename() || path == path.root_path() ? path : path.parent_path();
}

}  // namespace cachet::io
