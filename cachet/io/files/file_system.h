#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace cachet::io {

/// The system calls used for saving, with the kernel's conventions: each returns -1 and sets errno on failure. Tests
/// override the functions of FileSystem to make each call fail in turn, to stop after a call, or to record calls.
class FileSystem {
 public:
  virtual ~FileSystem() = default;

  virtual int open(const std::filesystem::path& path, int flags, mode_t mode);
  virtual ssize_t write(int file, const void* bytes, size_t count);
  virtual int fsync(int file);
  virtual int close(int file);
  virtual int rename(const std::filesystem::path& from, const std::filesystem::path& to);
  virtual int unlink(const std::filesystem::path& path);
  virtual int rmdir(const std::filesystem::path& path);
  virtual int mkdir(const std::filesystem::path& path, mode_t mode);
  /// Sets `bytes` to the number of bytes that an unprivileged user can still write on the file system of `path`.
  virtual int free_bytes(const std::filesystem::path& path, uint64_t* bytes);

  static FileSystem& real();
};

}  // namespace cachet::io
