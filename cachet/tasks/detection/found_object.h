#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cachet/data/vision/coco/coco_results.h"
#include "cachet/geometry/box.h"
#include "cachet/geometry/run_lengths.h"

namespace cachet::tasks {

/// A detected object, or a true object (without a score). The box is in pixels of the original image.
struct FoundObject {
  int64_t label = 0;
  double score = 0;
  geometry::Box box{};
  std::optional<geometry::RunLengths> mask{};  // mask at the original image's size
};

/// A line of JSON: {"index":0,"file":…,"detections":[{"label":2,"class":"star","score":0.98,"bbox":[x,y,w,h],
/// "segmentation":{"size":[h,w],"counts":…}}]}. An image of a data set has `image_id`; a user's image has `file`. Empty
/// members are left out. If the image could not be read, "error" replaces the detections.
struct FoundObjects {
  int64_t index = 0;
  std::optional<int64_t> image_id{};
  std::string file{};
  std::vector<FoundObject> objects{};
  std::string problem{};
};
std::string to_json_line(const FoundObjects& found, const std::vector<std::string>& class_names);
/// Reads a line of to_json_line(). If the line does not have the form of to_json_line(), returns std::nullopt.
std::optional<FoundObjects> found_objects_from_json(const std::string& line);
/// Reads the line of a record, which may come from a file that was edited by hand. Throws std::runtime_error if the
/// line does not have the form of to_json_line(), or if a label is not below `classes`.
FoundObjects read_found_objects(const std::string& record, int64_t classes);

/// The forms in which a file of results stores an object. If a file has boxes, pycocotools takes the areas of objects
/// from the boxes. Therefore, pycocotools uses the areas of masks only if the file has no boxes.
enum class ResultForms { boxes, masks, both };

/// Returns a file of COCO results. The id of an image without id is its index. `category_ids` has the category id of
/// each class.
std::string coco_results(const std::vector<FoundObjects>& images, const std::vector<int64_t>& category_ids,
                         ResultForms forms = ResultForms::both);
/// Adds the detections of one image to `text`.
void add_results(data::CocoResultsText& text, const FoundObjects& image, const std::vector<int64_t>& category_ids,
                 ResultForms forms);

}  // namespace cachet::tasks
