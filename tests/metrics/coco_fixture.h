#pragma once

#include <cstdint>
#include <map>
#include <ostream>
#include <utility>
#include <vector>

#include "cachet/metrics/coco_evaluation.h"
#include "tests/support/coco_json.h"

namespace cachet::metrics {

inline void PrintTo(OverlapKind kind, std::ostream* out) { *out << (kind == OverlapKind::boxes ? "boxes" : "masks"); }

}  // namespace cachet::metrics

namespace cachet::test {

/// COCO ground truth and detections, categories numbered in the order of their ids.
struct CocoFixture {
  std::vector<int64_t> categories;
  std::vector<std::pair<int64_t, metrics::ImageObjects>> images;
};

inline CocoFixture coco_fixture(const nlohmann::json& oracle, metrics::OverlapKind kind) {
  CocoFixture fixture;
  std::map<int64_t, size_t> image_of;
  std::map<int64_t, geometry::Size> size_of;
  std::map<int64_t, int32_t> category_of;
  for (const auto& category : oracle["ground_truth"]["categories"]) {
    category_of[category["id"]] = static_cast<int32_t>(fixture.categories.size());
    fixture.categories.push_back(category["id"]);
  }
  for (const auto& image : oracle["ground_truth"]["images"]) {
    image_of[image["id"]] = fixture.images.size();
    size_of[image["id"]] = {image["height"], image["width"]};
    fixture.images.push_back({image["id"], {}});
  }
  const bool masks = kind == metrics::OverlapKind::masks;
  for (const auto& annotation : oracle["ground_truth"]["annotations"]) {
    metrics::TrueObject truth{.category = category_of.at(annotation["category_id"]),
                              .box = sized_box_of(annotation["bbox"]),
                              .area = annotation["area"],
                              .crowd = annotation["iscrowd"] == 1};
    if (masks) truth.mask = mask_of(annotation["segmentation"], size_of.at(annotation["image_id"]));
    fixture.images[image_of.at(annotation["image_id"])].second.truths.push_back(truth);
  }
  for (const auto& entry : oracle[masks ? "segm_detections" : "bbox_detections"]) {
    metrics::DetectedObject detection{
        .category = category_of.at(entry["category_id"]), .box = {}, .score = entry["score"]};
    if (masks) {
      detection.mask = mask_of(entry["segmentation"]);
    } else {
      detection.box = sized_box_of(entry["bbox"]);
    }
    fixture.images[image_of.at(entry["image_id"])].second.detections.push_back(detection);
  }
  return fixture;
}

inline std::vector<metrics::ImageVerdicts> verdicts_of(const CocoFixture& fixture, metrics::OverlapKind kind,
                                                       int threads = 1) {
  return metrics::match_images(
      static_cast<int64_t>(fixture.images.size()), [&](int64_t i) { return fixture.images[static_cast<size_t>(i)]; },
      kind, threads);
}

}  // namespace cachet::test
