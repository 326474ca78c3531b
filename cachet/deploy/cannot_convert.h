#pragma once

#include <stdexcept>

namespace cachet::deploy {

/// An error: the model cannot be written for an engine. what() is the reason in one line, without source positions.
class CannotConvert : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws the exception that is being handled as CannotConvert. Rethrows exceptions that do not concern a conversion: a
/// lack of memory, and numbers that are not finite.
[[noreturn]] void throw_cannot_convert();

/// Returns the result of `convert`. Its errors are thrown as by throw_cannot_convert().
template <class Convert>
auto converted(const Convert& convert) {
  try {
    return convert();
  } catch (...) {
    throw_cannot_convert();
  }
}

}  // namespace cachet::deploy
