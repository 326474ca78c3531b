#pragma once

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cachet/io/files/file_system.h"

namespace cachet::test {

/// Does what the real file system does, writes down each call, and lets a chosen one fail or the process "die" there:
/// the calls of a save fail in turn, or are the last one run.
class RecordingFileSystem : public io::FileSystem {
 public:
  struct Call {
    enum class Kind { kOpen, kWrite, kFsync, kClose, kRename, kUnlink, kRmdir, kMkdir, kFreeBytes } kind;
    std::filesystem::path path, to;
    std::string bytes;  // what was written
    bool creates = false;
    bool succeeded = true;
  };
  static constexpr size_t kNever = std::numeric_limits<size_t>::max();

  /// Call number `index` fails with this errno and has no effect.
  void fail_at(size_t index, int error) { fail_at_ = index, error_ = error; }
  /// Call number `index` is the last one run: the next ones throw Died, as if the process were gone.
  void die_after(size_t index) { die_after_ = index; }
  /// Writes transfer at most so many bytes a call, as a real one may.
  void limit_writes(size_t bytes) { most_per_write_ = bytes; }

  struct Died {};

  const std::vector<Call>& calls() const { return calls_; }

  int open(const std::filesystem::path& path, int flags, mode_t mode) override;
  ssize_t write(int file, const void* bytes, size_t count) override;
  int fsync(int file) override;
  int close(int file) override;
  int rename(const std::filesystem::path& from, const std::filesystem::path& to) override;
  int unlink(const std::filesystem::path& path) override;
  int rmdir(const std::filesystem::path& path) override;
  int mkdir(const std::filesystem::path& path, mode_t mode) override;
  int free_bytes(const std::filesystem::path& path, uint64_t* bytes) override;

 private:
  bool is_dead() const { return die_after_ != kNever && calls_.size() > die_after_; }
  /// Records a call; returns false (and sets errno) when it is to fail.
  bool begin(Call call);
  template <class Result>
  Result end(Result result) {
    if (result < 0) calls_.back().succeeded = false;
    return result;
  }

  std::vector<Call> calls_;
  std::map<int, std::filesystem::path> open_;
  size_t fail_at_ = kNever, die_after_ = kNever, most_per_write_ = kNever;
  int error_ = 0;
};

inline bool RecordingFileSystem::begin(Call call) {
  if (is_dead()) throw Died();
  const bool fails = calls_.size() == fail_at_;
  call.succeeded = !fails;
  calls_.push_back(std::move(call));
  if (fails) errno = error_;
  return !fails;
}

inline int RecordingFileSystem::open(const std::filesystem::path& path, int flags, mode_t mode) {
  if (!begin({Call::Kind::kOpen, path, {}, {}, (flags & O_CREAT) != 0})) return -1;
  const int file = FileSystem::open(path, flags, mode);
  if (file >= 0) open_[file] = path;
  return end(file);
}

inline ssize_t RecordingFileSystem::write(int file, const void* bytes, size_t count) {
  count = std::min(count, most_per_write_);
  if (!begin({Call::Kind::kWrite, open_[file], {}, {static_cast<const char*>(bytes), count}})) return -1;
  return end(FileSystem::write(file, bytes, count));
}

inline int RecordingFileSystem::fsync(int file) {
  if (!begin({Call::Kind::kFsync, open_[file], {}, {}})) return -1;
  return end(FileSystem::fsync(file));
}

/// A descriptor is gone even when close() reports an error, and with the process.
inline int RecordingFileSystem::close(int file) {
  if (is_dead()) return FileSystem::close(file);
  const bool succeeds = begin({Call::Kind::kClose, open_[file], {}, {}});
  const int error = errno;
  const int result = FileSystem::close(file);
  if (succeeds) return end(result);
  errno = error;
  return -1;
}

inline int RecordingFileSystem::rename(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (!begin({Call::Kind::kRename, from, to, {}})) return -1;
  return end(FileSystem::rename(from, to));
}

inline int RecordingFileSystem::unlink(const std::filesystem::path& path) {
  if (!begin({Call::Kind::kUnlink, path, {}, {}})) return -1;
  return end(FileSystem::unlink(path));
}

inline int RecordingFileSystem::rmdir(const std::filesystem::path& path) {
  if (!begin({Call::Kind::kRmdir, path, {}, {}})) return -1;
  return end(FileSystem::rmdir(path));
}

inline int RecordingFileSystem::mkdir(const std::filesystem::path& path, mode_t mode) {
  if (!begin({Call::Kind::kMkdir, path, {}, {}})) return -1;
  return end(FileSystem::mkdir(path, mode));
}

inline int RecordingFileSystem::free_bytes(const std::filesystem::path& path, uint64_t* bytes) {
  if (!begin({Call::Kind::kFreeBytes, path, {}, {}})) return -1;
  return end(FileSystem::free_bytes(path, bytes));
}

}  // namespace cachet::test
