#include "app/machine/openmp_waiting.h"

#include <cstdlib>

namespace cachet::app {
std::string openmp_waiting() {
  std::string text;
  for (const char* variable : kOpenMpWaitingVariables) {
    const char* value = std::getenv(variable);
    if (value != nullptr) text += (text.empty() ? "" : " ") + std::string(variable) + "=" + value;
  }
  return text.empty() ? "as it comes" : text;
}

}  // namespace cachet::app
