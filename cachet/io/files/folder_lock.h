#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

namespace cachet::io {

/// A folder that one process has for itself (flock(2)): those that ask are kept out, nobody else is. It is the folder's
/// whatever its name becomes, copies share it, and the kernel lets go of it when the process dies. Only processes of
/// this machine are kept out; where the file system knows no locks, nobody is.
class FolderLock {
 public:
  /// Nothing where somebody else has it. Throws Error where the folder cannot be opened.
  static std::optional<FolderLock> take_if_free(const std::filesystem::path& folder);
  /// Waits until it is free. Throws Error where the folder cannot be opened.
  static FolderLock wait_for(const std::filesystem::path& folder);
  /// Takes a lock that any number of processes can share: while one has it, take_if_free() returns nothing. Waits while
  /// another process has the folder for itself. Returns nothing if the folder cannot be opened.
  static std::optional<FolderLock> take_shared(const std::filesystem::path& folder);
  /// Whether somebody has it. Changes nothing; where the file system does not tell, it is taken to be so.
  static bool is_taken(const std::filesystem::path& folder);

 private:
  explicit FolderLock(std::shared_ptr<void> file) : file_(std::move(file)) {}

  std::shared_ptr<void> file_;  // open; closing it lets go
};

}  // namespace cachet::io
