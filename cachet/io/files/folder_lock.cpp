#include "cachet/io/files/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>

#include "cachet/io/error.h"

namespace cachet::io {
namespace {

constexpr int kTries = 5;
constexpr std::chrono::milliseconds kBetweenTries{20};

int open_folder(const std::filesystem::path& folder) {
  return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

struct OpenFolder {
  int file;
  std::shared_ptr<void> closed_at_last;
};

OpenFolder opened(const std::filesystem::path& folder) {
  const int file = open_folder(folder);
  if (file < 0) throw Error(folder.string() + ": " + std::generic_category().message(errno));
  return {file, std::shared_ptr<void>(nullptr, [file](void*) { ::close(file); })};
}

/// Gives false where somebody else has it. Any other failure is of a file system that knows no locks.
bool lock(int file, int how) {
  while (flock(file, how) != 0)
    if (errno != EINTR) return errno != EWOULDBLOCK;
  return true;
}

}  // namespace

std::optional<FolderLock> FolderLock::take_if_free(const std::filesystem::path& folder) {
  OpenFolder open = opened(folder);
  // is_taken() has it for an instant.
  for (int tries = 1; !lock(open.file, LOCK_EX | LOCK_NB); ++tries) {
    if (tries == kTries) return std::nullopt;
    std::this_thread::sleep_for(kBetweenTries);
  }
  return FolderLock(std::move(open.closed_at_last));
}

FolderLock FolderLock::wait_for(const std::filesystem::path& folder) {
  OpenFolder open = opened(folder);
  lock(open.file, LOCK_EX);
  return FolderLock(std::move(open.closed_at_last));
}

std::optional<FolderLock> FolderLock::take_shared(const std::filesystem::path& folder) {
  const int file = open_folder(folder);
  if (file < 0) return std::nullopt;
  std::shared_ptr<void> closed_at_last(nullptr, [file](void*) { ::close(file); });
  lock(file, LOCK_SH);
  return FolderLock(std::move(closed_at_last));
}

bool FolderLock::is_taken(const std::filesystem::path& folder) {
  const int file = open_folder(folder);
  if (file < 0) return true;
  const bool is_free = flock(file, LOCK_SH | LOCK_NB) == 0;
  ::close(file);  // lets go of it
  return !is_free;
}

}  // namespace cachet::io
