// Files of COCO results.
#include "cachet/data/vision/coco/coco_results.h"
#include "cachet/io/error.h"
#include "tests/fuzz/fuzz_target.h"

namespace cachet::fuzz {

void read(std::span<const uint8_t> input) {
  const std::string_view text(reinterpret_cast<const char*>(input.data()), input.size());
  try {
    data::CocoResultsText written;
    data::parse_coco_results(text, "input", [&](const data::CocoDetection& detection) { written.add(detection); });
    data::parse_coco_results(std::move(written).finish(), "written", [](const data::CocoDetection&) {});
  } catch (const io::Error&) {
  }
}

std::vector<std::string> seeds() {
  return {R"([{"image_id": 1, "category_id": 2, "bbox": [1, 1, 4.5, 3], "score": 0.5}])",
          R"([{"image_id": 1, "category_id": 2, "score": 1e-3, "segmentation": {"size": [7, 9], "counts": "9d0R1"}}])"};
}

}  // namespace cachet::fuzz
