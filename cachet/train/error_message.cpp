#include "cachet/train/error_message.h"

#include <c10/util/Exception.h>

namespace cachet::train {

std::string error_message(const std::exception& error) {
  const auto* torch = dynamic_cast<const c10::Error*>(&error);
  if (torch == nullptr) return error.what();
  const std::string text = torch->what_without_backtrace();
  return text.substr(0, text.find('\n'));
}

}  // namespace cachet::train
