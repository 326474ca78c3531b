#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

#include "cachet/analysis/products.h"

namespace cachet::app {

/// Of every JSON object that the command prints. Fields are only ever added.
inline constexpr int64_t kSchema = 1;

inline nlohmann::ordered_json macs_json(const analysis::Products& macs) {
  return {{"linear_convolution", macs.linear_convolution}, {"attention", macs.attention}};
}

}  // namespace cachet::app
