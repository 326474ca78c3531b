#pragma once

#include <stdexcept>
#include <string>

namespace cachet::io {

/// A file that cannot be used, or a system call on it that failed. what() is a line for the user: the file's name, what
/// is wrong and where.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace cachet::io
