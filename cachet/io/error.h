#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace cachet::io {

/// A file that cannot be used, or a system call on it that failed. what() is a line for the user: the file's name, what
/// is wrong and where.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A name as messages show it: 'weight'. Control characters, which a hostile file could steer a terminal with, become
/// '?'.
inline std::string in_quotes(std::string_view name) {
  std::string text(1, '\'');
  for (const char symbol : name) {
    const auto byte = static_cast<unsigned char>(symbol);
    text += byte < 0x20 || byte == 0x7F ? '?' : symbol;
  }
  text += '\'';
  return text;
}

}  // namespace cachet::io
