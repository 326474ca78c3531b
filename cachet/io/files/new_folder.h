#pragma once

#include <filesystem>
#include <optional>

#include "cachet/io/files/folder_lock.h"

namespace cachet::io {

/// A folder that appears with all its files or not at all: they are written to a temporary one next to it. If a
/// symbolic link to a folder has its name, the folder that the link leads to is meant, and the link stays.
class NewFolder {
 public:
  enum class Taken { refused, replaced };  // a folder of that name that holds something

  /// Makes the temporary folder, and those above it. Removes the temporary folders that killed processes left for the
  /// same name; that of a process that still writes stays. Throws Error if `path` is a file, a link that leads nowhere,
  /// or a folder that holds something and is not to be replaced.
  explicit NewFolder(std::filesystem::path path, Taken taken = Taken::refused);
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  ~NewFolder();  // without finish(): removes what was written

  const std::filesystem::path& path() const { return temporary_; }  // where to write
  /// Gives it its name, in one step also where it replaces the folder that was there from the beginning, which is
  /// removed then; on a file system that cannot exchange names, a process killed in between leaves the other one as
  /// `.NAME.old-PID`. The files' bytes are on the disk already: whoever wrote them saw to that. Throws Error, also
  /// where something has taken the name meanwhile, and what is there is as before.
  void finish();

 private:
  std::filesystem::path path_, temporary_;
  bool replaces_;
  std::optional<FolderLock> lock_;  // of the temporary folder, which shows that somebody writes it
};

}  // namespace cachet::io
