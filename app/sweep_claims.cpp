#include "app/sweep_claims.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace cachet::app {
namespace {

/// A point is a byte of the file, which need not be there.
struct flock byte_of(size_t point, short kind) {
  struct flock lock {};
  lock.l_type = kind;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(point);
  lock.l_len = 1;
  return lock;
}

}  // namespace

SweepClaims::SweepClaims(const std::filesystem::path& file)
    : file_(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
  if (file_ < 0) throw std::runtime_error(file.string() + ": " + std::generic_category().message(errno));
}

SweepClaims::~SweepClaims() { ::close(file_); }

bool SweepClaims::take(size_t point) {
  struct flock lock = byte_of(point, F_WRLCK);
  if (fcntl(file_, F_OFD_SETLK, &lock) == 0) return true;
  if (errno == EAGAIN || errno == EACCES) return false;
  throw std::runtime_error("the points of a sweep cannot be shared here: " + std::generic_category().message(errno));
}

void SweepClaims::give_back(size_t point) {
  struct flock lock = byte_of(point, F_UNLCK);
  fcntl(file_, F_OFD_SETLK, &lock);
}

}  // namespace cachet::app
