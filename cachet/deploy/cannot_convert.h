#pragma once

#include <stdexcept>

namespace cachet::deploy {

/// Error for a model that cannot be written for an engine. what() is the reason in one line, without source positions.
class CannotConvert : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Rethrows the current exception as CannotConvert. Two kinds of exceptions do not concern a conversion and are
/// rethrown unchanged: a lack of memory, and numbers that are not finite.
[[noreturn]] void throw_cannot_convert();

/// Returns the result of `convert`. Passes the exceptions of `convert` to throw_cannot_convert().
template <class Convert>
auto converted(const Convert& convert) {
  try {
    return convert();
  } catch (...) {
    throw_cannot_convert();
  }
}

}  // namespace cachet::deploy
