#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cachet/data/vision/coco/coco_results.h"
#include "cachet/tasks/abilities.h"
#include "cachet/tasks/detection/found_object.h"

namespace cachet::tasks {

/// Returns the number that a file's name is, apart from folder and suffix, as in COCO: 139 for
/// "val2017/000000000139.jpg". Empty for other names and for numbers above 2⁵³.
std::optional<int64_t> number_in_name(const std::string& file);

/// The objects found in a user's images, as files that pycocotools reads: results.json with the results, and
/// images.json with the images and categories to which the results' ids refer. If the names of all files are distinct
/// numbers, the id of an image is this number; otherwise it is the image's index among the user's images.
class GivenResults {
 public:
  /// Takes the category ids and the names of the model's classes.
  GivenResults(std::vector<int64_t> category_ids, std::vector<std::string> class_names);

  /// Adds the next image in the images' order. An image that could not be read is left out of both files.
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
