#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "cachet/metrics/coco_matching.h"

namespace cachet::metrics {

/// A detection in the ranking of all detections of a category.
struct RankedDetection {
  const DetectionVerdict* verdict = nullptr;
  uint32_t image = 0;  // index of the image in the order of the ids
  int64_t place = 0;   // rank among the detections of its image and category
};

/// The true objects and the detections of one category. Detections are sorted by descending score, then by the id of
/// the image.
struct RankedCategory {
  struct ImageTruths {
    uint32_t image = 0;
    std::array<int32_t, kAreaRanges> counts{};
  };
  std::vector<RankedDetection> detections;
  std::vector<ImageTruths> truths;  // only images that have truths

  int64_t truths_in(AreaRange range) const;
};

/// Collects the truths and detections of `images` (any order, each id once) for each category 0 … `categories` − 1, and
/// sorts the detections by score. The result refers to elements of `images`, and the number of threads does not affect
/// the result. Throws std::invalid_argument if an id occurs twice or a category is unknown.
std::vector<RankedCategory> ranked_by_category(std::span<const ImageVerdicts> images, int32_t categories, int threads);

}  // namespace cachet::metrics
