#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace cachet::tasks {

/// The encoding of a text. A text is "Windows-1252" if one of its lines is not UTF-8.
struct TextEncoding {
  std::string name;
  int64_t lines = 0, first_line = 0;  // number of lines that are not UTF-8, and the number of the first one
};

/// Returns a text as UTF-8 without a byte-order mark, with lines ending in "\n". Text is read as UTF-16 if it has a
/// mark of UTF-16, or if at least every eighth byte is zero and the indices of all zero bytes are even, or all odd. If
/// a text is not UTF-16, each line that is not UTF-8 is read as Windows-1252. If `encoding` is not null, the text's
/// encoding is stored in *encoding. Throws io::Error if a text that is not UTF-16 has zero bytes.
std::string as_utf8(std::string_view bytes, TextEncoding* encoding = nullptr);

/// Reads files with as_utf8(), and counts the files that are not UTF-8. A file that is read twice counts twice.
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
  TextEncoding encoding_;  // encoding of that file
};

/// Returns the lines of a text, without line ends.
std::vector<std::string_view> lines_of(std::string_view text);

}  // namespace cachet::tasks
