#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace cachet::io {

/// A regular file opened for reading. A folder, FIFO, socket or device is refused without blocking on it.
class InputFile {
 public:
  /// Throws io::Error if the file is missing, not readable or not regular.
  explicit InputFile(const std::filesystem::path& path);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  uint64_t size() const { return size_; }  // size when the file was opened, in bytes
  /// Reads `bytes` from the current position. Throws io::Error if the file ends too early (it shrank) or reading fails.
  void read(std::span<std::byte> bytes);
  /// Reads `bytes` from `position` on. The current position of the file does not change.
  void read_at(uint64_t position, std::span<std::byte> bytes) const;

 private:
  std::filesystem::path path_;
  int file_ = -1;
  uint64_t size_ = 0;
  uint64_t position_ = 0;
};

/// Reads a whole regular file. If the file is larger than `max_bytes`, throws io::Error before memory is allocated.
/// Throws io::Error also for a Git LFS pointer (git_lfs.h).
std::vector<std::byte> read_file(const std::filesystem::path& path, uint64_t max_bytes);
std::string read_text_file(const std::filesystem::path& path, uint64_t max_bytes);

/// Passes a regular file to `use` in pieces of `piece_bytes`; the last piece may be shorter. Throws io::Error like
/// InputFile.
void for_each_piece_of_file(const std::filesystem::path& path, size_t piece_bytes,
                            const std::function<void(std::span<const std::byte> piece)>& use);

}  // namespace cachet::io
