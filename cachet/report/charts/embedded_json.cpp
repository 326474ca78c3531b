#include "cachet/report/charts/embedded_json.h"

#include <nlohmann/json.hpp>

namespace cachet::report {

std::string embedded_json(const nlohmann::json& value) {
  const std::string text = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string element = "<script type=\"application/json\">";
  for (char c : text) {
    // Within JSON these stand in strings only, where they have another spelling that neither HTML nor XML reads.
    if (c == '<') {
      element += "\\u003c";
    } else if (c == '>') {
      element += "\\u003e";
    } else if (c == '&') {
      element += "\\u0026";
    } else {
      element += c;
    }
  }
  return element + "</script>";
}

}  // namespace cachet::report
