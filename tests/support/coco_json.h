#pragma once

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cachet/geometry/polygon.h"
#include "cachet/geometry/run_lengths.h"
#include "tests/support/oracle_folder.h"

namespace cachet::test {

inline nlohmann::json json_oracle(const std::string& name) {
  std::ifstream file(oracle_folder() / name);
  return nlohmann::json::parse(file);
}

/// A mask as COCO's JSON has it: {"size": [h, w], "counts": text or numbers}.
inline geometry::RunLengths mask_of(const nlohmann::json& entry) {
  const geometry::Size size{entry.at("size").at(0), entry.at("size").at(1)};
  const nlohmann::json& counts = entry.at("counts");
  if (counts.is_string()) return geometry::RunLengths::from_text(size, counts.get<std::string>());
  return {size, counts.get<std::vector<uint32_t>>()};
}

/// The mask of a segmentation: polygons or run lengths.
inline geometry::RunLengths mask_of(const nlohmann::json& segmentation, const geometry::Size& image) {
  if (segmentation.is_object()) return mask_of(segmentation);
  return geometry::rasterized(segmentation.get<std::vector<geometry::Polygon>>(), image);
}

inline geometry::Box box_of(const nlohmann::json& corners) {
  return {corners.at(0), corners.at(1), corners.at(2), corners.at(3)};
}

inline geometry::SizedBox sized_box_of(const nlohmann::json& box) {
  return {box.at(0), box.at(1), box.at(2), box.at(3)};
}

}  // namespace cachet::test
