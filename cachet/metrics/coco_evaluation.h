#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "cachet/metrics/coco_matching.h"

namespace cachet::metrics {

inline constexpr int kRecallSteps = 101;  // 0, 0.01, …, 1

/// Returns the recall of step `number`, 0 … 100.
double recall_step(int number);

/// COCO's twelve numbers, in COCO's order. A number is −1 if no object affects it.
struct CocoNumbers {
  double ap = -1, ap50 = -1, ap75 = -1;                 // over all thresholds; at 0.5; at 0.75
  double ap_small = -1, ap_medium = -1, ap_large = -1;  // AP by area of the objects
  double ar1 = -1, ar10 = -1, ar100 = -1;               // recall with 1, 10 and 100 detections per image
  double ar_small = -1, ar_medium = -1, ar_large = -1;  // recall with 100 detections per image, by area

  std::array<double, 12> values() const {
    return {ap, ap50, ap75, ap_small, ap_medium, ap_large, ar1, ar10, ar100, ar_small, ar_medium, ar_large};
  }
};

/// The results of one category over objects of all sizes and 100 detections per image.
struct CategoryResult {
  int64_t truths = 0, detections = 0;  // numbers of truths and detections that count (at the lowest threshold)
  double ap = -1, ap50 = -1, ap75 = -1, ar = -1;
  /// Precision (made monotone) at each recall, for each threshold; empty if there are no truths.
  std::vector<std::array<double, kRecallSteps>> precision;
};

struct CocoResult {
  CocoNumbers numbers;
  std::vector<CategoryResult> categories;
  /// Returns the precision at each recall at a threshold: the mean over categories with truths; empty without truths.
  std::vector<double> precision_curve(int threshold) const;
};

/// Computes the results of all images, which may have any order; each id occurs once. Categories are numbers below
/// `categories`. The result does not depend on the order of the images or the number of threads, to the last bit.
/// Throws std::invalid_argument for an image that occurs twice and for a category out of range.
CocoResult summarize(std::span<const ImageVerdicts> images, int32_t categories, int threads = 1);

/// The truths and detections of one image.
struct ImageObjects {
  std::vector<TrueObject> truths;
  std::vector<DetectedObject> detections;
};

/// Calls match_image() for `images` images on several threads. `objects(i)` returns the id and the objects of image i,
/// and may be called from any of the threads.
std::vector<ImageVerdicts> match_images(int64_t images,
                                        const std::function<std::pair<int64_t, ImageObjects>(int64_t)>& objects,
                                        OverlapKind kind, int threads = 1);

}  // namespace cachet::metrics
