#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace cachet::io {

/// The error if a file cannot be used, or if a system call on a file failed. what() is one line for the user: the
/// name of the file, the fault, and the position of the fault in the file.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Returns a name in quotes for a message: 'weight'. Control characters become '?', because a hostile file could use
/// them to control the terminal.
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
