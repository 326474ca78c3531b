#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace cachet::tasks {

/// Returns a text as UTF-8 without a byte-order mark, with lines ending in "\n". Text with a mark of UTF-16 is read as
/// UTF-16; other bytes that are not UTF-8 are read as Windows-1252. If `encoding` is not null, the name of the text's
/// encoding is stored in *encoding.
std::string as_utf8(std::string_view bytes, std::string* encoding = nullptr);

/// Reads files with as_utf8(), and counts the files that are not UTF-8.
class TextReader {
 public:
  /// Reads a text file, which may be compressed (.gz or .xz). Throws io::Error.
  std::string read(const std::filesystem::path& file);
  /// Returns the bytes of a file, unpacked. Throws io::Error.
  static std::string read_bytes(const std::filesystem::path& file);
  /// Returns a line about files that are not UTF-8; empty if there are none.
  std::string note() const;

 private:
  int64_t files_ = 0, others_ = 0;
  std::filesystem::path first_;
  std::string encoding_;
};

/// Returns the lines of a text, without their ends.
std::vector<std::string_view> lines_of(std::string_view text);

}  // namespace cachet::tasks
