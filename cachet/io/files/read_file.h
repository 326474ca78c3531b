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
  /// Throws io::Error: missing, not readable, no regular file.
  explicit InputFile(const std::filesystem::path& path);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  uint64_t size() const { return size_; }  // at the time of opening
  /// Fills `bytes` from the current position; throws io::Error if the file ends before (it shrank) or reading fails.
  void read(std::span<std::byte> bytes);
  /// The same from `position` on, which leaves the current position as it is.
  void read_at(uint64_t position, std::span<std::byte> bytes) const;

 private:
  std::filesystem::path path_;
  int file_ = -1;
  uint64_t size_ = 0;
  uint64_t position_ = 0;
};

/// A regular file as a whole. Throws io::Error if it is larger than `max_bytes`, before memory is taken, and if it is
/// the text that Git LFS leaves instead of a file (git_lfs.h).
std::vector<std::byte> read_file(const std::filesystem::path& path, uint64_t max_bytes);
std::string read_text_file(const std::filesystem::path& path, uint64_t max_bytes);

/// Gives a regular file in pieces of `piece_bytes`, the last one as long as what is left. Throws io::Error as InputFile
/// does.
void for_each_piece_of_file(const std::filesystem::path& path, size_t piece_bytes,
                            const std::function<void(std::span<const std::byte> piece)>& use);

}  // namespace cachet::io
