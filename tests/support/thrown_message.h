#pragma once

#include <exception>
#include <string>
#include <utility>

namespace cachet::test {

/// what() of the Exception that a call throws; "(nothing thrown)" if it does not.
template <class Exception, class Call>
std::string thrown_message(Call&& call) {
  try {
    std::forward<Call>(call)();
  } catch (const Exception& error) {
    return error.what();
  }
  return "(nothing thrown)";
}

}  // namespace cachet::test
