#include "cachet/train/earlier_values.h"

namespace cachet::train {

std::optional<std::string> earlier_value(const std::string& key) {
  if (key == "data.orientation") return "\"ignore\"";
  return std::nullopt;
}

}  // namespace cachet::train
