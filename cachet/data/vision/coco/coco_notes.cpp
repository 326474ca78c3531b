#include "cachet/data/vision/coco/coco_notes.h"

#include <algorithm>
#include <string_view>

namespace cachet::data {
namespace {

struct FaultWords {
  std::string_view what, why;
};

FaultWords words_of(CocoFault fault) {
  constexpr std::string_view kLeftOut = "left out", kNoMask = "without part of their masks",
                             kUntrained = "not trained with";
  switch (fault) {
    case CocoFault::unknown_image:
      return {kLeftOut, "their image is not listed"};
    case CocoFault::unknown_category:
      return {kLeftOut, "their category is not listed"};
    case CocoFault::repeated_id:
      return {kLeftOut, "their id is the id of an earlier annotation"};
    case CocoFault::odd_box:
      return {kLeftOut, "their box must be four finite numbers, with a width and height of at least 0"};
    case CocoFault::odd_area:
      return {kLeftOut, "their area must be a finite number of at least 0"};
    case CocoFault::short_polygon:
      return {kNoMask, "a polygon has fewer than three corners or an odd number of coordinates"};
    case CocoFault::odd_polygon:
      return {kNoMask, "a polygon has corners that are not finite or too far from the image"};
    case CocoFault::odd_runs:
      return {kNoMask, "the run lengths do not make a mask of the stated size"};
    case CocoFault::other_size:
      return {kNoMask, "the size of the run lengths is not the size of the image"};
    case CocoFault::elsewhere:
      return {kNoMask, "the segmentation lies outside the box"};
    case CocoFault::outside_image:
      return {kUntrained, "their box lies outside the image"};
    case CocoFault::no_area:
      return {kUntrained, "their box has no area"};
    case CocoFault::count:
      break;
  }
  return {};
}

}  // namespace

bool CocoNotes::any() const {
  return std::any_of(counts_.begin(), counts_.end(), [](int64_t count) { return count > 0; });
}

std::vector<std::string> CocoNotes::lines() const {
  std::vector<std::string> lines;
  for (size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] == 0) continue;
    const FaultWords words = words_of(static_cast<CocoFault>(i));
    lines.push_back(std::to_string(counts_[i]) + (counts_[i] == 1 ? " annotation " : " annotations ") +
                    std::string(words.what) + ": " + std::string(words.why));
  }
  return lines;
}

}  // namespace cachet::data
