#pragma once

#include <filesystem>
#include <functional>

namespace cachet::hub {

/// A lock file that one process can hold at a time (flock(2), as in the hub's own client). If the file system does not
/// support locks, no process waits for another.
class FileLock {
 public:
  /// Creates the file and its parent folders if they do not exist, and waits until no other process has the lock. Calls
  /// `waiting` once if another process has the lock. Throws io::Error if the file cannot be created.
  explicit FileLock(const std::filesystem::path& path, const std::function<void()>& waiting = {});
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock();  // releases the lock; the file stays

 private:
  int file_;
};

}  // namespace cachet::hub
