#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cachet/data/vision/coco/coco_results.h"
#include "cachet/tasks/abilities.h"
#include "cachet/tasks/detection/found_object.h"

namespace cachet::tasks {

/// Returns the number that a file's name consists of before its suffix, as in COCO: 139 of "val2017/000000000139.jpg".
/// Empty for other names and for numbers above 2⁵³.
std::optional<int64_t> number_in_name(const std::string& file);

/// The objects found in a user's images, as files that pycocotools reads: results.json, the results, and images.json,
/// the list of images and categories that their ids refer to. If the names of all files are distinct numbers, the id of
/// an image is this number; otherwise it is the image's index among the user's images.
class GivenResults {
 public:
  /// `category_ids` and `class_names` are of the model's classes.
  GivenResults(std::vector<int64_t> category_ids, std::vector<std::string> class_names);

  /// Adds the images, in their order. Leaves an image that could not be read out of both files.
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
  std::vector<int64_t> numbers_;  // numbers of all names, if the names are numbers
  data::CocoResultsText by_number_, by_index_;
};

}  // namespace cachet::tasks
