#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

namespace cachet::io {

/// A lock on a folder, for one process (flock(2)). The lock excludes only processes of this machine that request it,
/// and no process if the file system has no locks. The lock stays with a folder that is renamed, and copies of the
/// object have the same lock. The kernel releases the lock when the process dies.
class FolderLock {
 public:
  /// Takes the lock. Returns an empty value if another process has it. Throws Error if the folder cannot be opened.
  static std::optional<FolderLock> take_if_free(const std::filesystem::path& folder);
  /// Waits until the lock is free, and takes it. Throws Error if the folder cannot be opened.
  static FolderLock wait_for(const std::filesystem::path& folder);
  /// Takes a lock that any number of processes can hold together; take_if_free() then returns an empty value. Waits
  /// while another process holds the exclusive lock. Empty if the folder cannot be opened.
  static std::optional<FolderLock> take_shared(const std::filesystem::path& folder);
  /// Whether a process has the lock. Changes nothing. If the file system does not report this, the result is true.
  static bool is_taken(const std::filesystem::path& folder);

 private:
  explicit FolderLock(std::shared_ptr<void> file) : file_(std::move(file)) {}

  std::shared_ptr<void> file_;  // the open folder; closing it releases the lock
};

}  // namespace cachet::io
