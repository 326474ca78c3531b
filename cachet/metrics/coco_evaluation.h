#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "cachet/metrics/coco_matching.h"

namespace cachet::metrics {

inline constexpr int kRecallSteps = 101;  // 0, 0.01, …, 1

/// Returns the recall of step `number` (0 … 100).
double recall_step(int number);

/// COCO's twelve numbers, in COCO's order. A number is −1 if the data have no objects from which to compute it.
struct CocoNumbers {
  double ap = -1, ap50 = -1, ap75 = -1;                 // over all thresholds; at threshold 0.5; at threshold 0.75
  double ap_small = -1, ap_medium = -1, ap_large = -1;  // AP by area of the objects
  double ar1 = -1, ar10 = -1, ar100 = -1;               // recall with 1, 10 and 100 detections per image
  double ar_small = -1, ar_medium = -1, ar_large = -1;  // recall with 100 detections per image, by area

  std::array<double, 12> values() const {
    return {ap, ap50, ap75, ap_small, ap_medium, ap_large, ar1, ar10, ar100, ar_small, ar_medium, ar_large};
  }
};

/// The results of one category over objects of all sizes, with 100 detections per image.
struct CategoryResult {
  int64_t truths = 0, detections = 0;  // numbers of truths and of detections that count (at the lowest threshold)
  double ap = -1, ap50 = -1, ap75 = -1, ar = -1;
  /// Precision (made monotone) at each recall, for each threshold. The list of precisions is empty if the category has
  /// no true objects.
  std::vector<std::array<double, kRecallSteps>> precision;
};

struct CocoResult {
  CocoNumbers numbers;
  std::vector<CategoryResult> categories;
  /// Returns the precision at each recall for a threshold, as the mean over the categories that have true objects.
  /// Empty without truths.
  std::vector<double> precision_curve(int threshold) const;
};

/// Computes COCO's results over all images. Images may have any order, and each id occurs once. Categories are numbers
/// below `categories`. No bit of the result depends on the order of the images or on the number of threads. Throws
/// std::invalid_argument if an image occurs twice, or if a category is out of range.
CocoResult summarize(std::span<const ImageVerdicts> images, int32_t categories, int threads = 1);

/// The true objects and the detections of one image.
struct ImageObjects {
  std::vector<TrueObject> truths;
  std::vector<DetectedObject> detections;
};

/// Calls match_image() for `images` images on several threads. `objects(i)` returns the id and the objects of image i;
/// any of the threads may call it.
std::vector<ImageVerdicts> match_images(int64_t images,
                                        const std::function<std::pair<int64_t, ImageObjects>(int64_t)>& objects,
                                        OverlapKind kind, int threads = 1);

}  // namespace cachet::metrics
