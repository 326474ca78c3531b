#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>

#include "cachet/data/vision/coco/shape_scene.h"

namespace cachet::data {

struct ShapeCounts {
  int64_t images = 0, crowds = 0;
  std::array<int64_t, kShapeNames.size()> objects{};  // number of objects of each class, without crowds
};

/// Progress callback that receives the number of pictures written so far. The callback may throw to stop the
/// generation.
using ShapeProgress = std::function<void(int64_t done)>;

/// Makes a data set in COCO's form in a new folder, which appears when it is complete: annotations/instances_train.json
/// and instances_val.json, and images/train and images/val. Equal options give equal bytes with any number of threads.
/// Throws std::invalid_argument if check() throws it for the options, and io::Error if the folder is not empty.
ShapeCounts write_shape_folder(const std::filesystem::path& folder, const ShapeOptions& options,
                               const ShapeProgress& progress = {});

}  // namespace cachet::data
