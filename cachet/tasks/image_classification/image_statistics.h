#pragma once

#include <filesystem>
#include <string>

#include "cachet/data/vision/image_source.h"
#include "cachet/data/vision/pixels/pixel_normalization.h"
#include "cachet/io/images/image_request.h"

namespace cachet::tasks {

/// What a run keeps of its training images in the file kImageStatistics, so that no answer depends on images that lie
/// elsewhere.
struct ImageStatistics {
  data::Normalization normalization{};  // of each channel; empty if the recipe or the kind of data gives it
  io::ImageSize size{};                 // of each image
};
inline constexpr const char* kImageStatistics = "image_statistics.json";

/// {"mean": [0.286], "std": [0.353], "height": 28, "width": 28}, without mean and std if they are empty.
std::string to_json(const ImageStatistics& statistics);

/// Reads that file. Throws io::Error.
ImageStatistics read_image_statistics(const std::filesystem::path& file);

}  // namespace cachet::tasks
