#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "cachet/metrics/coco_matching.h"

namespace cachet::metrics {

inline constexpr int kRecallSteps = 101;  // 0, 0.01, …, 1

/// The recall of step 0 … 100.
double recall_step(int number);

/// The twelve numbers in COCO's order. A number that no object affects is −1.
struct CocoNumbers {
  double ap = -1, ap50 = -1, ap75 = -1;                 // over all thresholds; at 0.5; at 0.75
  double ap_small = -1, ap_medium = -1, ap_large = -1;  // by area
  double ar1 = -1, ar10 = -1, ar100 = -1;               // recall with 1, 10, 100 detections an image
  double ar_small = -1, ar_medium = -1, ar_large = -1;  // with 100, by area

  std::array<double, 12> values() const {
    return {ap, ap50, ap75, ap_small, ap_medium, ap_large, ar1, ar10, ar100, ar_small, ar_medium, ar_large};
  }
};

/// What holds for one category over objects of all sizes and 100 detections an image.
struct CategoryResult {
  int64_t truths = 0, detections = 0;  // that count; detections at the lowest threshold
  double ap = -1, ap50 = -1, ap75 = -1, ar = -1;
  /// Precision at each recall, made monotone, by threshold; empty where there is no truth.
  std::vector<std::array<double, kRecallSteps>> precision;
};

struct CocoResult {
  CocoNumbers numbers;
  std::vector<CategoryResult> categories;
  /// Precision at each recall at a threshold, the mean over categories that have truths; empty where none has.
  std::vector<double> precision_curve(int threshold) const;
};

/// The numbers of all images together: `images` in any order, each id once, categories 0 … `categories` − 1. The result
/// is the same for any order of the images and any number of threads, to the last bit. Throws std::invalid_argument for
/// an image that is there twice and for a category beyond.
CocoResult summarize(std::span<const ImageVerdicts> images, int32_t categories, int threads = 1);

/// The truths and detections of one image.
struct ImageObjects {
  std::vector<TrueObject> truths;
  std::vector<DetectedObject> detections;
};

/// match_image() of `images` images on several threads; `objects(i)` is called from any of them, and gives an image's
/// id and what is in it.
std::vector<ImageVerdicts> match_images(int64_t images,
                                        const std::function<std::pair<int64_t, ImageObjects>(int64_t)>& objects,
                                        OverlapKind kind, int threads = 1);

}  // namespace cachet::metrics
