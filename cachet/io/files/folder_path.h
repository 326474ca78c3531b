#pragma once

#include <filesystem>

namespace cachet::io {

/// Removes the last separator of a path, so that filename() returns the name of the folder. The completion of paths in
/// a shell adds a last separator.
inline std::filesystem::path without_last_separator(const std::filesystem::path& path) {
  return path.has_filename() || path == path.root_path() ? path : path.parent_path();
}

}  // namespace cachet::io
