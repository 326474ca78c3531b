#include "cachet/train/earlier_values.h"

namespace cachet::train {

std::optional<std::string> earlier_value(const std::string& key) {
  if (key == "data.orientation") return "\"ignore\"";
  return std::nullopt;
}

bool is_newer_than_0_1_0(std::string_view key) { return key == "data.orientation"; }

}  // namespace cachet::train
