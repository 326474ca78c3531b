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

/// A name as messages show it: 'weight'.
inline std::string in_quotes(std::string_view name) {
  std::string text(1, '\'');
  text += name;
  text += '\'';
  return text;
}

}  // namespace cachet::io
