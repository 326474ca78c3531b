#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cachet/data/vision/coco/coco_results.h"
#include "cachet/tasks/abilities.h"
#include "cachet/tasks/detection/found_object.h"

namespace cachet::tasks {

/// If a file's name without folder and suffix is a number, as in COCO, returns this number: 139 for
/// "val2017/000000000139.jpg". The result is empty if the file's name is not a number, or if the number is above 2⁵³.
std::optional<int64_t> number_in_name(const std::string& file);

/// The objects found in a user's images, as files that pycocotools reads: results.json with the results, and
/// images.json with the images and categories to which the results' ids refer. If the names of all files are distinct
/// numbers, the id of an image is this number; otherwise it is the image's index among the user's images.
class GivenResults {
 public:
  /// `category_ids` and `class_names` have one entry for each class of the model.
  GivenResults(std::vector<int64_t> category_ids, std::vector<std::string> class_names);

  /// Adds the next image, in the order of the user's images. If an image could not be read, it is left out of
  /// results.json and images.json.
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
  std::vector<int64_t> numbers_;  // the numbers of all file names, if all names are numbers
  data::CocoResultsText by_number_, by_index_;
};

}  // namespace cachet::tasks
