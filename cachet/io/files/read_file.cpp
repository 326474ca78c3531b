#include "cachet/io/files/read_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>

#include "cachet/io/error.h"
#include "cachet/io/files/git_lfs.h"

namespace cachet::io {
namespace {

[[noreturn]] void fail_reading(const std::filesystem::path& path, const char* step) {
  throw Error(path.string() + ": " + step + " failed: " + std::generic_category().message(errno));
}

template <class Bytes>
Bytes read_whole(const std::filesystem::path& path, uint64_t max_bytes) {
  InputFile file(path);
  if (file.size() > max_bytes) {
    throw Error(path.string() + ": has " + std::to_string(file.size()) + " bytes; the maximum is " +
                std::to_string(max_bytes));
  }
  Bytes bytes(file.size(), {});
  file.read(std::as_writable_bytes(std::span(bytes)));
  const std::string_view start(reinterpret_cast<const char*>(bytes.data()),
                               std::min(bytes.size(), kGitLfsPointer.size()));
  if (start == kGitLfsPointer) throw Error(path.string() + ": " + kIsGitLfsPointer);
  return bytes;
}

}  // namespace

// O_NONBLOCK keeps a FIFO without a writer from blocking open(); on a regular file it means nothing.
InputFile::InputFile(const std::filesystem::path& path)
    : path_(path), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {
  if (file_ < 0) fail_reading(path_, "opening");
  struct stat status;
  const bool is_known = ::fstat(file_, &status) == 0;
  if (!is_known || !S_ISREG(status.st_mode)) {
    ::close(file_);
    if (!is_known) fail_reading(path_, "fstat");
    throw Error(path_.string() + ": is " + (S_ISDIR(status.st_mode) ? "a folder" : "not a regular file"));
  }
  size_ = static_cast<uint64_t>(status.st_size);
}

InputFile::~InputFile() { ::close(file_); }

void InputFile::read(std::span<std::byte> bytes) {
  read_at(position_, bytes);
  position_ += bytes.size();
}

void InputFile::read_at(uint64_t position, std::span<std::byte> bytes) const {
  constexpr size_t kMaxAtOnce = size_t{1} << 30;  // Linux reads less than 2 GiB in one call
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::pread(file_, bytes.data() + done, std::min(bytes.size() - done, kMaxAtOnce),
                                  static_cast<off_t>(position + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_reading(path_, "reading");
    if (count == 0) {
      throw Error(path_.string() + ": ends at byte " + std::to_string(position + done) + " of " +
                  std::to_string(size_) + ": the file changed while it was read");
    }
    done += static_cast<size_t>(count);
  }
}

std::vector<std::byte> read_file(const std::filesystem::path& path, uint64_t max_bytes) {
  return read_whole<std::vector<std::byte>>(path, max_bytes);
}

std::string read_text_file(const std::filesystem::path& path, uint64_t max_bytes) {
  return read_whole<std::string>(path, max_bytes);
}

void for_each_piece_of_file(const std::filesystem::path& path, size_t piece_bytes,
                            const std::function<void(std::span<const std::byte> piece)>& use) {
  InputFile file(path);
  std::vector<std::byte> bytes(static_cast<size_t>(std::min<uint64_t>(file.size(), piece_bytes)));
  for (uint64_t left = file.size(); left > 0;) {
    const std::span<std::byte> piece = std::span(bytes).first(std::min<uint64_t>(left, bytes.size()));
    file.read(piece);
    use(piece);
    left -= piece.size();
  }
}

}  // namespace cachet::io
