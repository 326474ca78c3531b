#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/io/files/byte_source.h"

namespace cachet::io {

/// A function that reads the next bytes into the beginning of `bytes` and returns their number, 0 at the end.
using ReadPiece = std::function<size_t(std::span<std::byte> bytes)>;

/// Reads a text line by line. A line ends with "\n", with "\r\n" or at the end of the text.
class LineReader {
 public:
  /// `source` must outlive the reader. Messages begin with `name`. A line of more than `max_line_bytes` is an error.
  LineReader(const ByteSource& source, std::string name, size_t max_line_bytes);
  /// Reads lines of an input of unknown size. A line is returned as soon as it is complete.
  LineReader(ReadPiece read, std::string name, size_t max_line_bytes);

  /// Returns the next line without its line end, valid until the next call, or an empty value at the end. Throws Error.
  std::optional<std::string_view> next();

  int64_t number() const { return number_; }  // number of the line that next() returned; the first is 1
  /// Throws Error: "<name>:<number>: <problem>".
  [[noreturn]] void fail(const std::string& problem) const;

 private:
  bool fill();  // reads more bytes; false at the end of the source

  ReadPiece read_;
  std::string name_;
  size_t max_line_bytes_;
  std::vector<char> buffer_;  // the bytes from begin_ on are not returned yet
  size_t begin_ = 0;
  int64_t number_ = 0;
};

}  // namespace cachet::io
