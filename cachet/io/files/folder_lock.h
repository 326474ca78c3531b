#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

namespace cachet::io {

/// A lock on a folder, for one process (flock(2)). It excludes only processes that ask for the lock. It stays with the
/// folder if the folder is renamed, copies share it, and the kernel releases it when the process dies. It excludes only
/// processes of this machine, and none if the file system has no locks.
class FolderLock {
 public:
  /// Takes the lock; nothing if another process has it. Throws Error if the folder cannot be opened.
  static std::optional<FolderLock> take_if_free(const std::filesystem::path& folder);
  /// Waits until it is free. Throws Error where the folder cannot be opened.
  static FolderLock wait_for(const std::filesystem::path& folder);
  /// Takes a lock that any number of processes can share: while one has it, take_if_free() returns nothing. Waits while
  /// another process has the folder for itself. Returns nothing if the folder cannot be opened.
  static std::optional<FolderLock> take_shared(const std::filesystem::path& folder);
  /// Whether a process has the lock. Changes nothing. If the file system does not report this, the result is true.
  static bool is_taken(const std::filesystem::path& folder);

 private:
  explicit FolderLock(std::shared_ptr<void> file) : file_(std::move(file)) {}

  std::shared_ptr<void> file_;  // open; closing it lets go
};

}  // namespace cachet::io
