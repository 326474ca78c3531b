#pragma once

#include <filesystem>
#include <optional>

#include "cachet/io/files/folder_lock.h"

namespace cachet::io {

/// A folder that appears with all its files or not at all: files are first written to a temporary folder next to it. If
/// the path is a symbolic link to a folder, the path stands for the target of the link, and the link stays.
class NewFolder {
 public:
  enum class Taken { refused, replaced };  // the treatment of a non-empty folder at that path

  /// Creates the temporary folder and its parents. Removes temporary folders that killed processes left for the same
  /// name, but not the folder of a process that is still writing. Throws Error if `path` is a file, a link without a
  /// target, or (with Taken::refused) a non-empty folder.
  explicit NewFolder(std::filesystem::path path, Taken taken = Taken::refused);
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  ~NewFolder();  // without finish(), removes the temporary folder

  const std::filesystem::path& path() const { return temporary_; }  // the temporary folder, to write files into
  /// Renames the temporary folder to its final name in one step. If a folder of the final name already exists, the
  /// rename replaces this folder, which is then removed. If the file system cannot exchange names, and the process is
  /// killed between two renames, the earlier folder stays as `.NAME.old-PID`. The bytes of the files must be synced to
  /// the disk before this call. Throws Error, for example if another folder got the final name meanwhile. If finish()
  /// throws, existing files do not change.
  void finish();

 private:
  std::filesystem::path path_, temporary_;
  bool replaces_;
  std::optional<FolderLock> lock_;  // shows that a process is writing to the temporary folder
};

}  // namespace cachet::io
