#pragma once

#include <stdexcept>

namespace cachet::deploy {

/// A model that cannot be written for an engine. what() is the reason in one line, without positions in sources.
class CannotConvert : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws the exception that is being handled as CannotConvert. Exceptions that do not concern a conversion are
/// rethrown: a lack of memory, and numbers that are not finite.
[[noreturn]] void throw_cannot_convert();

/// What `convert` gives; its errors are those of throw_cannot_convert().
template <class Convert>
auto converted(const Convert& convert) {
  try {
    return convert();
  } catch (...) {
    throw_cannot_convert();
  }
}

}  // namespace cachet::deploy
