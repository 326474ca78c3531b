#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "cachet/io/error.h"
#include "cachet/io/files/file_system.h"

namespace cachet::io {

/// The error if another process has locked the file.
class FileInUse : public Error {
 public:
  using Error::Error;
};

/// Whether other processes may write the same file at the same time. `locked` (flock(2)) excludes every process of this
/// machine that also requests the lock. If the file system does not support locks, `locked` has no effect.
enum class FileAccess { shared, locked };

/// A file that only grows. Each append() is one write, so a process that dies leaves whole records and at most one torn
/// record. Only this class and write_file_atomically() write files in the program's own folders. A symbolic link in the
/// last part of a file's path is not followed, but links in the path of the folder are.
class GrowingFile {
 public:
  /// Opens the file at its end, or creates it. Throws Error for a symbolic link. With FileAccess::locked, throws
  /// FileInUse if another process has locked the file. Each Error of this class names the path and the reason.
  explicit GrowingFile(std::filesystem::path path, FileSystem& file_system = FileSystem::real());
  GrowingFile(std::filesystem::path path, FileAccess access, FileSystem& file_system = FileSystem::real());
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;
  ~GrowingFile();

  void append(std::string_view record);
  /// Truncates the file to its first `bytes` bytes.
  void cut(uint64_t bytes);
  void sync();  // writes all data to the disk

 private:
  std::filesystem::path path_;
  FileSystem& file_system_;
  int file_;
};

}  // namespace cachet::io
