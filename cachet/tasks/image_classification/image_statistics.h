#pragma once

#include <filesystem>
#include <string>

#include "cachet/data/vision/image_source.h"
#include "cachet/data/vision/pixels/pixel_normalization.h"
#include "cachet/io/images/image_request.h"

namespace cachet::tasks {

/// The statistics of a run's training images, which the run stores in the file kImageStatistics. Predictions then do
/// not depend on the images of a data folder.
struct ImageStatistics {
  data::Normalization normalization{};  // mean and deviation per channel; empty if recipe or data kind have them
  io::ImageSize size{};                 // size of each image
};
inline constexpr const char* kImageStatistics = "image_statistics.json";

/// Returns {"mean": [0.286], "std": [0.353], "height": 28, "width": 28}, without mean and std if they are empty.
std::string to_json(const ImageStatistics& statistics);

/// Reads the file kImageStatistics. Throws io::Error.
ImageStatistics read_image_statistics(const std::filesystem::path& file);

}  // namespace cachet::tasks
