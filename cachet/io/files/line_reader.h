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

/// Fills the beginning of `bytes` with what comes next and returns how many those are; 0 at the end.
using ReadPiece = std::function<size_t(std::span<std::byte> bytes)>;

/// The lines of a text, read in pieces. A line ends with "\n" or "\r\n", the last one perhaps with the text.
class LineReader {
 public:
  /// `source` must outlive it; `name` begins the messages. A line of more than `max_line_bytes` is an error.
  LineReader(const ByteSource& source, std::string name, size_t max_line_bytes);
  /// Reads a stream whose size is not known: a line is given as soon as it is there.
  LineReader(ReadPiece read, std::string name, size_t max_line_bytes);

  /// The next line without its end, valid until the next call; nothing after the last. Throws Error.
  std::optional<std::string_view> next();

  int64_t number() const { return number_; }  // of the line that next() gave; the first is 1
  /// Throws Error: "<name>:<number>: <problem>".
  [[noreturn]] void fail(const std::string& problem) const;

 private:
  bool fill();  // false at the end of the source

  ReadPiece read_;
  std::string name_;
  size_t max_line_bytes_;
  std::vector<char> buffer_;  // holds bytes begin_ … buffer_.size() − 1 that are not given out
  size_t begin_ = 0;
  int64_t number_ = 0;
};

}  // namespace cachet::io
