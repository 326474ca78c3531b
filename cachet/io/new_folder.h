#pragma once

#include <filesystem>

namespace cachet::io {

/// A folder that appears with all its files or not at all: they are written to a temporary one beside it.
class NewFolder {
 public:
  enum class Taken { refused, replaced };  // a folder of that name that holds something

  /// Makes the temporary folder, and those above it. Throws Error where `path` is a file, or a folder that holds
  /// something and is not to be replaced.
  explicit NewFolder(std::filesystem::path path, Taken taken = Taken::refused);
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  ~NewFolder();  // without finish(): removes what was written

  const std::filesystem::path& path() const { return temporary_; }  // where to write
  /// Renames it; what it replaces is removed then. The files' bytes are on the disk already: whoever wrote them saw to
  /// that.
  void finish();

 private:
  std::filesystem::path path_, temporary_;
};

}  // namespace cachet::io
