#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/geometry/box.h"
#include "cachet/geometry/run_lengths.h"

namespace cachet::data {

/// One entry of a file of COCO results, which is one detected object.
struct CocoDetection {
  int64_t image_id = 0, category_id = 0;
  std::optional<geometry::SizedBox> box;
  double score = 0;
  std::optional<geometry::RunLengths> mask;
};

/// Writes files for pycocotools' loadRes: an array of {"image_id", "bbox", "score", "category_id", "segmentation"}. If
/// a detection has a mask, "segmentation" stores the mask as compressed run lengths. Written numbers can be read back
/// exactly.
class CocoResultsText {
 public:
  CocoResultsText() = default;
  void add(const CocoDetection& detection);
  int64_t size() const { return size_; }
  /// Returns the complete text of the file of results.
  std::string finish() &&;

 private:
  std::string text_ = "[";
  int64_t size_ = 0;
};

/// Reads a file of results, one entry at a time. Each entry of the file must have a box or a mask. Boxes must have
/// finite numbers and no negative side, scores must be finite, and masks must have run lengths of their size. If an
/// entry is invalid, throws io::Error, which names the position and the fault: "x.json: JSON byte 71: detection 3 has
/// no 'score'".
void read_coco_results(const std::filesystem::path& file, const std::function<void(CocoDetection)>& entry);
void parse_coco_results(std::string_view text, std::string_view name, const std::function<void(CocoDetection)>& entry);

}  // namespace cachet::data
