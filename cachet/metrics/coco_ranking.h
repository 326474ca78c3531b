#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "cachet/metrics/coco_matching.h"

namespace cachet::metrics {

/// A detection among those of its category in all images.
struct RankedDetection {
  const DetectionVerdict* verdict = nullptr;
  uint32_t image = 0;  // its number, in the order of the images' ids
  int64_t place = 0;   // among the detections of its image and category
};

/// The detections of one category, highest scores first (equal ones in the order of the images' ids), and its truths.
struct RankedCategory {
  struct ImageTruths {
    uint32_t image = 0;
    std::array<int32_t, kAreaRanges> counts{};
  };
  std::vector<RankedDetection> detections;
  std::vector<ImageTruths> truths;  // of images that have some

  int64_t truths_in(AreaRange range) const;
};

/// What is in `images`, in any order and each id once, by category 0 … `categories` − 1. It refers to them. The same
/// for any number of threads. Throws std::invalid_argument for an image that is there twice and for a category beyond.
std::vector<RankedCategory> ranked_by_category(std::span<const ImageVerdicts> images, int32_t categories, int threads);

}  // namespace cachet::metrics
