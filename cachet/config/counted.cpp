#include "cachet/config/counted.h"

namespace cachet::config {

std::string counted(int64_t count, std::string_view one, std::string_view many) {
  std::string text = std::to_string(count) + " ";
  if (count == 1 || many.empty()) text += one;
  if (count != 1) text += many.empty() ? "s" : many;
  return text;
}

}  // namespace cachet::config
