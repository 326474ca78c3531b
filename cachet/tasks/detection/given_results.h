#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cachet/data/vision/coco/coco_results.h"
#include "cachet/tasks/abilities.h"
#include "cachet/tasks/detection/found_object.h"

namespace cachet::tasks {

/// The number that a file's name is without its ending, as those of COCO are: 139 of "val2017/000000000139.jpg".
/// Nothing of other names and of numbers above 2⁵³.
std::optional<int64_t> number_in_name(const std::string& file);

/// What was found on images that were given, as files that pycocotools reads: results.json, the results, and
/// images.json, the list of images and categories that their ids refer to. If the name of each file is a number of its
/// own, an image's id is this number; else each image's id is its index among those that were given.
class GivenResults {
 public:
  /// `category_ids` and `class_names` are of the model's classes.
  GivenResults(std::vector<int64_t> category_ids, std::vector<std::string> class_names);

  /// Of the images, in their order. One that could not be read is in neither file.
  void add(FoundObjects image);
  std::vector<NamedFile> finish() &&;

 private:
  struct Image {
    int64_t index;
    std::string file;
  };
  std::vector<int64_t> category_ids_;
  std::vector<std::string> class_names_;
  std::vector<Image> images_;
  bool has_numbers_ = true;
  std::vector<int64_t> numbers_;  // of all names, while these are numbers
  data::CocoResultsText by_number_, by_index_;
};

}  // namespace cachet::tasks
