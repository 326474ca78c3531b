#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cachet/data/vision/coco/coco_results.h"
#include "cachet/geometry/box.h"
#include "cachet/geometry/run_lengths.h"

namespace cachet::tasks {

/// What a detector found, or what is there: then without a score. Boxes in pixels of the original image.
struct FoundObject {
  int64_t label = 0;
  double score = 0;
  geometry::Box box{};
  std::optional<geometry::RunLengths> mask{};  // at the original image's size
};

/// A line of JSON: {"index":0,"file":…,"detections":[{"label":2,"class":"star","score":0.98,"bbox":[x,y,w,h],
/// "segmentation":{"size":[h,w],"counts":…}}]}. `image_id` is of an image of a set, `file` of one that was given; what
/// is empty is left out. Of an image that could not be read it has "error" instead of detections.
struct FoundObjects {
  int64_t index = 0;
  std::optional<int64_t> image_id{};
  std::string file{};
  std::vector<FoundObject> objects{};
  std::string problem{};
};
std::string to_json_line(const FoundObjects& found, const std::vector<std::string>& class_names);
/// Nothing for any other line.
std::optional<FoundObjects> found_objects_from_json(const std::string& line);
/// The same of a record, which may come from a file that was changed by hand. Throws std::runtime_error unless it is
/// one whose labels are below `classes`.
FoundObjects read_found_objects(const std::string& record, int64_t classes);

/// Which of an object's forms a file of results has. pycocotools takes areas of boxes where a file has boxes, so that
/// masks are measured by a file of their own.
enum class ResultForms { boxes, masks, both };

/// A file of COCO results of such: one without an image id has its index for one. `category_ids` are of the classes.
std::string coco_results(const std::vector<FoundObjects>& images, const std::vector<int64_t>& category_ids,
                         ResultForms forms = ResultForms::both);
/// The same, image by image.
void add_results(data::CocoResultsText& text, const FoundObjects& image, const std::vector<int64_t>& category_ids,
                 ResultForms forms);

}  // namespace cachet::tasks
