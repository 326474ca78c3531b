#pragma once

#include <string>
#include <vector>

#include "cachet/data/vision/coco/detection_loader.h"
#include "cachet/report/content.h"

namespace cachet::tasks {

/// Returns the first images of a run's first batch as a detector gets them, with the boxes and masks of its targets.
/// The function reads only the images that the page shows. Throws the errors of the DetectionLoader.
report::ImageGrid training_scenes(const data::DetectionLoader& loader, const data::Normalization& normalization,
                                  const std::vector<std::string>& class_names);

}  // namespace cachet::tasks
