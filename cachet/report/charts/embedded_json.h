#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace cachet::report {

/// A script element that holds the value as data. No text in it can end the element; numbers that are not finite are
/// null.
std::string embedded_json(const nlohmann::json& value);

}  // namespace cachet::report
