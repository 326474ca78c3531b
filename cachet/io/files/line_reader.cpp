#include "cachet/io/files/line_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "cachet/io/error.h"

namespace cachet::io {
namespace {

constexpr size_t kPieceBytes = size_t{1} << 16;

ReadPiece in_turn(const ByteSource& source) {
  return [&source, position = uint64_t{0}](std::span<std::byte> bytes) mutable {
    const size_t count = std::min<uint64_t>(bytes.size(), source.size() - position);
    source.read_at(position, bytes.first(count));
    position += count;
    return count;
  };
}

}  // namespace

LineReader::LineReader(const ByteSource& source, std::string name, size_t max_line_bytes)
    : LineReader(in_turn(source), std::move(name), max_line_bytes) {}

LineReader::LineReader(ReadPiece read, std::string name, size_t max_line_bytes)
    : read_(std::move(read)), name_(std::move(name)), max_line_bytes_(max_line_bytes) {}

bool LineReader::fill() {
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(begin_));
  begin_ = 0;
  const size_t held = buffer_.size();
  buffer_.resize(held + kPieceBytes);
  const size_t count = read_(std::as_writable_bytes(std::span(buffer_).subspan(held)));
  buffer_.resize(held + count);
  return count > 0;
}

std::optional<std::string_view> LineReader::next() {
  size_t searched = 0;  // bytes after begin_ that hold no line end
  while (true) {
    const char* start = buffer_.data() + begin_;
    const size_t held = buffer_.size() - begin_;
    const void* end = searched < held ? std::memchr(start + searched, '\n', held - searched) : nullptr;
    size_t length = end == nullptr ? held : static_cast<size_t>(static_cast<const char*>(end) - start);
    if (length > max_line_bytes_) {
      ++number_;
      fail("the line is longer than " + std::to_string(max_line_bytes_) + " bytes");
    }
    if (end == nullptr) {
      searched = held;
      if (fill()) continue;
      if (held == 0) return std::nullopt;
      start = buffer_.data() + begin_;  // fill() has moved them
    }
    begin_ += length + (end == nullptr ? 0 : 1);
    ++number_;
    if (length > 0 && start[length - 1] == '\r') --length;
    return std::string_view(start, length);
  }
}

void LineReader::fail(const std::string& problem) const {
  throw Error(name_ + ":" + std::to_string(number_) + ": " + problem);
}

}  // namespace cachet::io
