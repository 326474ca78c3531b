#pragma once

#include <cstdint>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "cachet/analysis/cost/products.h"

namespace cachet::app {

/// The schema number of every JSON object that the command prints, except records of predictions, which name their run.
/// Later versions only add fields.
inline constexpr int64_t kSchema = 1;

/// Returns the JSON text on one line. Bytes that are not UTF-8, for example in a file name, become U+FFFD.
inline std::string json_line(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

/// Returns the JSON text on several lines.
inline std::string json_text(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

inline void print_json(const nlohmann::ordered_json& json) { std::cout << json_text(json); }

inline nlohmann::ordered_json macs_json(const analysis::Products& macs) {
  return {{"linear_convolution", macs.linear_convolution}, {"attention", macs.attention}};
}

}  // namespace cachet::app
