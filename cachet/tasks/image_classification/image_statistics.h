#pragma once

#include <filesystem>
#include <string>

#include "cachet/data/vision/image_source.h"
#include "cachet/data/vision/pixels/pixel_normalization.h"
#include "cachet/io/images/image_request.h"

namespace cachet::tasks {

/// The statistics of a run's training images. The run stores the statistics in the file kImageStatistics, so its
/// predictions do not depend on the images of a data folder.
struct ImageStatistics {
  data::Normalization normalization{};  // mean and deviation per channel; empty if recipe or data kind have them
  io::ImageSize size{};                 // size of each image
};
inline constexpr const char* kImageStatistics = "image_statistics.json";

/// Returns the statistics as JSON: {"mean": [0.286], "std": [0.353], "height": 28, "width": 28}. If mean and std are
/// empty, the JSON has no keys for them.
std::string to_json(const ImageStatistics& statistics);

/// Reads the file kImageStatistics. Throws io::Error.
ImageStatistics read_image_statistics(const std::filesystem::path& file);

}  // namespace cachet::tasks
