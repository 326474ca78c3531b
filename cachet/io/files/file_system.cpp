#include "cachet/io/files/file_system.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace cachet::io {

int FileSystem::open(const std::filesystem::path& path, int flags, mode_t mode) {
  return ::open(path.c_str(), flags, mode);
}
ssize_t FileSystem::write(int file, const void* bytes, size_t count) { return ::write(file, bytes, count); }
int FileSystem::fsync(int file) { return ::fsync(file); }
int FileSystem::close(int file) { return ::close(file); }
int FileSystem::rename(const std::filesystem::path& from, const std::filesystem::path& to) {
  return ::rename(from.c_str(), to.c_str());
}
int FileSystem::unlink(const std::filesystem::path& path) { return ::unlink(path.c_str()); }
int FileSystem::rmdir(const std::filesystem::path& path) { return ::rmdir(path.c_str()); }
int FileSystem::mkdir(const std::filesystem::path& path, mode_t mode) { return ::mkdir(path.c_str(), mode); }

int FileSystem::free_bytes(const std::filesystem::path& path, uint64_t* bytes) {
  struct statvfs status;
  if (::statvfs(path.c_str(), &status) != 0) return -1;
  *bytes = static_cast<uint64_t>(status.f_bavail) * status.f_frsize;
  return 0;
}

FileSystem& FileSystem::real() {
  static FileSystem instance;
  return instance;
}

}  // namespace cachet::io
