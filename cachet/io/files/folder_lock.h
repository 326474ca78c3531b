#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

namespace cachet::io {

/// A lock of one process on a folder (flock(2)). The lock excludes only processes of this machine that request it. If
/// the file system does not support locks, the lock has no effect. A renamed folder stays locked. Copies of a
/// FolderLock hold the same lock. If the process dies, the kernel releases the lock.
class FolderLock {
 public:
  /// Takes the lock. Returns an empty value if another process holds the lock. Throws Error if the folder cannot be
  /// opened.
  static std::optional<FolderLock> take_if_free(const std::filesystem::path& folder);
  /// Waits until the lock is free, and takes it. Throws Error if the folder cannot be opened.
  static FolderLock wait_for(const std::filesystem::path& folder);
  /// Takes a lock that any number of processes can hold together; take_if_free() then returns an empty value. Waits
  /// while another process holds the exclusive lock. Returns an empty value if the folder cannot be opened.
  static std::optional<FolderLock> take_shared(const std::filesystem::path& folder);
  /// Whether a process has the lock; does not take the lock. If the file system does not report locks, returns true, as
  /// if a process held the lock.
  static bool is_taken(const std::filesystem::path& folder);

 private:
  explicit FolderLock(std::shared_ptr<void> file) : file_(std::move(file)) {}

  std::shared_ptr<void> file_;  // the open folder; closing it releases the lock
};

}  // namespace cachet::io
