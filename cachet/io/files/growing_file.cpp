#include "cachet/io/files/growing_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace cachet::io {
namespace {

[[noreturn]] void fail_growing(const std::filesystem::path& path, const std::string& what) {
  throw Error(path.string() + ": " + what + ": " + std::generic_category().message(errno));
}

int open_at_end(const std::filesystem::path& path, FileSystem& file_system) {
  const int file = file_system.open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (file < 0 && errno == ELOOP)
    throw Error(path.string() +
                ": is a symbolic link, but this file cannot be written through a link; remove the link");
  if (file < 0) fail_growing(path, "cannot be opened for appending");
  return file;
}

/// False if another process has the lock. Every other failure means a file system without locks.
bool lock(int file) {
  while (flock(file, LOCK_EX | LOCK_NB) != 0)
    if (errno != EINTR) return errno != EWOULDBLOCK;
  return true;
}

/// Whether the open file still has its name: another process may have replaced the file before the lock was taken.
bool has_name(int file, const std::filesystem::path& path) {
  struct stat opened, named;
  return fstat(file, &opened) == 0 && lstat(path.c_str(), &named) == 0 && opened.st_dev == named.st_dev &&
         opened.st_ino == named.st_ino;
}

int open_locked(const std::filesystem::path& path, FileSystem& file_system) {
  while (true) {
    const int file = open_at_end(path, file_system);
    const bool is_locked = lock(file);
    if (is_locked && has_name(file, path)) return file;
    file_system.close(file);
    if (!is_locked)
      throw FileInUse(path.string() + ": another process is writing this file; wait for it, or stop it first");
  }
}

}  // namespace

GrowingFile::GrowingFile(std::filesystem::path path, FileSystem& file_system)
    : GrowingFile(std::move(path), FileAccess::shared, file_system) {}

GrowingFile::GrowingFile(std::filesystem::path path, FileAccess access, FileSystem& file_system)
    : path_(std::move(path)),
      file_system_(file_system),
      file_(access == FileAccess::locked ? open_locked(path_, file_system) : open_at_end(path_, file_system)) {}

GrowingFile::~GrowingFile() { file_system_.close(file_); }

void GrowingFile::append(std::string_view record) {
  while (!record.empty()) {
    const ssize_t written = file_system_.write(file_, record.data(), record.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail_growing(path_, "cannot write " + std::to_string(record.size()) + " bytes");
    record.remove_prefix(static_cast<size_t>(written));
  }
}

void GrowingFile::cut(uint64_t bytes) {
  while (ftruncate(file_, static_cast<off_t>(bytes)) != 0)
    if (errno != EINTR) fail_growing(path_, "cannot be truncated to " + std::to_string(bytes) + " bytes");
}

void GrowingFile::sync() {
  if (file_system_.fsync(file_) != 0) fail_growing(path_, "cannot be flushed to the disk");
}

}  // namespace cachet::io
