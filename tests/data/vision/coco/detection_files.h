#pragma once

#include <ATen/ops/full.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "cachet/data/vision/coco/detection_set.h"
#include "cachet/io/tensors/png.h"

namespace cachet::test {

/// A PNG file of one colour, so that the image tells its number.
inline void write_plain_png(const std::filesystem::path& file, int64_t height, int64_t width, int64_t value) {
  std::filesystem::create_directories(file.parent_path());
  const auto bytes = io::encode_png(at::full({height, width, 3}, value, at::kByte));
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

/// `count` images of 40 × 60 and 60 × 40 pixels in turn, below `folder`, each with one square of 10 pixels.
inline std::shared_ptr<const data::DetectionSet> small_detection_set(const std::filesystem::path& folder,
                                                                     int64_t count) {
  nlohmann::json file{{"images", nlohmann::json::array()},
                      {"annotations", nlohmann::json::array()},
                      {"categories", {{{"id", 4}, {"name", "square"}}}}};
  for (int64_t i = 0; i < count; ++i) {
    const int64_t height = i % 2 == 0 ? 40 : 60, width = 100 - height;
    const std::string name = std::to_string(i) + ".png";
    write_plain_png(folder / name, height, width, i);
    file["images"].push_back({{"id", 100 + i}, {"height", height}, {"width", width}, {"file_name", name}});
    file["annotations"].push_back({{"id", i},
                                   {"image_id", 100 + i},
                                   {"category_id", 4},
                                   {"bbox", {5, 8, 10, 10}},
                                   {"area", 100},
                                   {"segmentation", {{5, 8, 15, 8, 15, 18, 5, 18}}}});
  }
  auto instances = std::make_shared<const data::CocoInstances>(data::CocoInstances::parse(file.dump(), "x.json"));
  return std::make_shared<const data::DetectionSet>(instances, folder, data::DetectionSetOptions{.masks = true});
}

}  // namespace cachet::test
