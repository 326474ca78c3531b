#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "cachet/io/error.h"
#include "cachet/io/little_endian.h"

namespace cachet::io {

/// Reads the bytes of a pickle. All functions report a damaged pickle with io::Error, such as "<name>: byte 17: the
/// pickle ends inside a text".
class PickleCursor {
 public:
  PickleCursor(std::span<const std::byte> bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {}

  size_t position() const { return position_; }
  bool at_end() const { return position_ == bytes_.size(); }

  /// Reads the next `count` bytes; `what` names them in messages. The function allocates no memory, whatever the value
  /// of `count`.
  std::string_view take(uint64_t count, const char* what) {
    if (count > bytes_.size() - position_) fail(std::string("the pickle ends inside ") + what);
    const std::string_view taken(reinterpret_cast<const char*>(bytes_.data()) + position_, count);
    position_ += count;
    return taken;
  }

  template <class Int>
  Int number(const char* what) {
    const std::string_view taken = take(sizeof(Int), what);
    return little_endian<Int>(std::as_bytes(std::span(taken)), 0);
  }

  /// Reads up to the next line feed, and returns the bytes before this line feed.
  std::string_view line(const char* what) {
    const std::string_view rest(reinterpret_cast<const char*>(bytes_.data()) + position_, bytes_.size() - position_);
    const size_t size = rest.find('\n');
    if (size == std::string_view::npos) fail(std::string("the pickle ends inside ") + what);
    position_ += size + 1;
    return rest.substr(0, size);
  }

  [[noreturn]] void fail(const std::string& message) const {
    throw Error(name_ + ": byte " + std::to_string(position_) + ": " + message);
  }

 private:
  std::span<const std::byte> bytes_;
  std::string name_;
  size_t position_ = 0;
};

}  // namespace cachet::io
