#include "cachet/io/growing_file.h"

#include <fcntl.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "cachet/io/error.h"

namespace cachet::io {
namespace {

[[noreturn]] void fail_growing(const std::filesystem::path& path, const std::string& what) {
  throw Error(path.string() + ": " + what + ": " + std::generic_category().message(errno));
}

}  // namespace

GrowingFile::GrowingFile(std::filesystem::path path, FileSystem& file_system)
    : path_(std::move(path)),
      file_system_(file_system),
      file_(file_system.open(path_, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) {
  if (file_ < 0) fail_growing(path_, "cannot be opened for appending");
}

GrowingFile::~GrowingFile() { file_system_.close(file_); }

void GrowingFile::append(std::string_view record) {
  while (!record.empty()) {
    const ssize_t written = file_system_.write(file_, record.data(), record.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail_growing(path_, "cannot write " + std::to_string(record.size()) + " bytes");
    record.remove_prefix(static_cast<size_t>(written));
  }
}

void GrowingFile::sync() {
  if (file_system_.fsync(file_) != 0) fail_growing(path_, "cannot be flushed to the disk");
}

}  // namespace cachet::io
