#include "cachet/train/error_message.h"

#include <c10/util/Exception.h>

namespace cachet::train {

std::string error_message(const std::exception& error) {
  const auto* torch = dynamic_cast<const c10::Error*>(&error);
  if (torch == nullptr) return error.what();
  return first_line(torch->what_without_backtrace());
}

std::string first_line(const std::string& message) { return message.substr(0, message.find('\n')); }

}  // namespace cachet::train
