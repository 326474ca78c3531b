#include "cachet/hub/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>

#include "cachet/hub/folders.h"
#include "cachet/io/error.h"

namespace cachet::hub {
namespace {

constexpr std::chrono::milliseconds kBetweenTries{100};

/// False if another process has the lock. Every other failure means a file system without locks.
bool try_lock(int file) {
  while (flock(file, LOCK_EX | LOCK_NB) != 0)
    if (errno != EINTR) return errno != EWOULDBLOCK;
  return true;
}

/// Whether the open file still has its name: other programs may remove a lock file after they released it.
bool still_has_name(int file, const std::filesystem::path& path) {
  struct stat opened, named;
  return fstat(file, &opened) == 0 && stat(path.c_str(), &named) == 0 && opened.st_dev == named.st_dev &&
         opened.st_ino == named.st_ino;
}

}  // namespace

FileLock::FileLock(const std::filesystem::path& path, const std::function<void()>& waiting) {
  bool has_told = false;
  while (true) {
    make_folders(path.parent_path());
    file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0664);
    if (file_ < 0)
      throw io::Error(path.string() + ": cannot be opened (" + std::generic_category().message(errno) +
                      "); check the permissions of its folder");
    while (!try_lock(file_)) {
      if (waiting && !has_told) waiting();
      has_told = true;
      std::this_thread::sleep_for(kBetweenTries);
    }
    if (still_has_name(file_, path)) return;
    ::close(file_);
  }
}

FileLock::~FileLock() { ::close(file_); }

}  // namespace cachet::hub
