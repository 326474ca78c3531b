#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "cachet/io/files/read_file.h"
#include "cachet/io/tensors/image.h"
#include "cachet/io/tensors/png.h"
#include "tests/support/small_scenes.h"

namespace cachet::test {

/// Scenes of shapes whose validation pictures are square, tall and wide in turn, with sides of 64 and 40 pixels.
inline void write_mixed_scenes(const std::filesystem::path& folder, int64_t train, int64_t validation) {
  write_small_scenes(folder, train, validation, /*crowds=*/0);  // masks of crowds have the size of the picture
  const auto annotations = folder / "annotations" / "instances_val.json";
  auto file = nlohmann::json::parse(io::read_text_file(annotations, 1 << 24));
  for (size_t i = 0; i < file["images"].size(); ++i) {
    auto& image = file["images"][i];
    const int64_t height = i % 3 == 2 ? 40 : 64, width = i % 3 == 1 ? 40 : 64;
    const auto path = folder / "images" / "val" / image["file_name"].get<std::string>();
    const auto pixels = io::read_image(path, {}).pixels.slice(0, 0, height).slice(1, 0, width).contiguous();
    const auto bytes = io::encode_png(pixels);
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    image["height"] = height;
    image["width"] = width;
  }
  // Boxes for outlines, whose runs are of the whole picture.
  auto kept = nlohmann::json::array();
  for (auto annotation : file["annotations"]) {
    const auto of = [&](const auto& image) { return image["id"] == annotation["image_id"]; };
    const auto& image = *std::ranges::find_if(file["images"], of);
    const auto side = [&](size_t place, const char* name) {
      return std::min(annotation["bbox"][place].get<double>(), image[name].get<double>());
    };
    const double left = side(0, "width"), top = side(1, "height");
    const double width = std::min(annotation["bbox"][2].get<double>(), image["width"].get<double>() - left);
    const double height = std::min(annotation["bbox"][3].get<double>(), image["height"].get<double>() - top);
    if (width < 1 || height < 1) continue;
    annotation["bbox"] = {left, top, width, height};
    annotation["area"] = width * height;
    annotation["segmentation"] = {{left, top, left + width, top, left + width, top + height, left, top + height}};
    kept.push_back(annotation);
  }
  file["annotations"] = kept;
  std::ofstream(annotations) << file;
}

}  // namespace cachet::test
