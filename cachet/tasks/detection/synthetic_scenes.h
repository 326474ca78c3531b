#pragma once

#include <filesystem>
#include <memory>

#include "cachet/data/vision/coco/detection_set.h"
#include "cachet/tasks/detection/detection_plan.h"

namespace cachet::tasks {

/// A detection set of shapes, to try a recipe without its data: PNG files in a temporary folder, which the destructor
/// removes. The images have the sizes to which the recipe scales images, up to 512 pixels. The class names are numbers.
class SyntheticScenes {
 public:
  SyntheticScenes(const DetectionOptions& options, int64_t count);
  SyntheticScenes(const SyntheticScenes&) = delete;
  SyntheticScenes& operator=(const SyntheticScenes&) = delete;
  ~SyntheticScenes();

  const std::shared_ptr<const data::DetectionSet>& set() const { return set_; }

 private:
  std::filesystem::path folder_;
  std::shared_ptr<const data::DetectionSet> set_;
};

}  // namespace cachet::tasks
