#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cachet/metrics/coco_evaluation.h"
#include "cachet/report/content.h"
#include "cachet/report/metric_description.h"
#include "cachet/tasks/detection/found_object.h"
#include "cachet/train/step/metrics.h"

namespace cachet::tasks {

/// A detection counts as an answer, in what people are shown, from this score on.
inline constexpr double kShownScore = 0.3;

/// COCO's numbers of boxes, or of masks.
struct OverlapNumbers {
  struct ClassRow {
    int64_t truths = 0, detections = 0;
    double ap = -1, ap50 = -1, ap75 = -1, ar = -1;
    bool operator==(const ClassRow&) const = default;
  };
  std::array<double, 12> numbers{};  // in COCO's order, −1 where there is none
  std::optional<double> ap_error{};  // the standard error of the first of them, where it is known
  std::vector<ClassRow> classes{};
  std::vector<std::vector<double>> curves{};  // precision at 101 recalls, for overlaps of 0.5, 0.6, 0.7, 0.8, 0.9
  bool operator==(const OverlapNumbers&) const = default;
};

/// An image of the evaluation that the page shows, and what was found on it.
struct ShownImage {
  int64_t index = 0;     // in the evaluation set
  double agreement = 0;  // F1 of answers and truths at an overlap of one half
  std::vector<FoundObject> found{};
};

/// What an evaluation found.
struct DetectionEvaluation {
  int64_t images = 0;
  int64_t unreadable = 0;  // of these, images that could not be read: all their objects are missed
  OverlapNumbers boxes{};
  std::optional<OverlapNumbers> masks{};
  /// Which class each object was found as, (classes + 1)²: the last row are answers where nothing is, the last column
  /// objects that were not found.
  std::vector<int64_t> confusion{};
  std::vector<ShownImage> best{}, worst{};

  /// "box_ap", "box_ap_stderr", "box_ap50", …, "mask_ap", …; metrics that no object affects are left out. If no
  /// object was measured, "box_ap" and "mask_ap" are NaN. If images could not be read, "unreadable_images".
  train::Metrics metrics() const;
};

/// The same, described: box_ap decides.
std::vector<report::MetricDescription> detection_metrics(bool masks);

/// Adds up images, in any order.
class DetectionTally {
 public:
  DetectionTally(int64_t classes, bool masks)
      : classes_(classes), masks_(masks), confusion_(static_cast<size_t>((classes + 1) * (classes + 1)), 0) {}

  void add(int64_t index, int64_t image_id, const std::vector<metrics::TrueObject>& truths,
           const std::vector<FoundObject>& found);
  DetectionEvaluation finish(int threads = 1) const;

 private:
  double compare(const std::vector<metrics::TrueObject>& truths, const std::vector<FoundObject>& found);

  int64_t classes_;
  bool masks_;
  std::vector<metrics::ImageVerdicts> boxes_, outlines_;
  std::vector<int64_t> confusion_;
  std::vector<ShownImage> best_, worst_;
};

/// For the run's folder. detection_evaluation_from_json returns nothing for other JSON or another number of classes.
std::string to_json(const DetectionEvaluation& evaluation, const std::vector<std::string>& class_names);
std::optional<DetectionEvaluation> detection_evaluation_from_json(const std::string& text, int64_t classes);

/// COCO's table of twelve numbers, the classes' table, precision and recall, the confusion of classes.
std::vector<report::Block> detection_blocks(const DetectionEvaluation& evaluation,
                                            const std::vector<std::string>& class_names);

}  // namespace cachet::tasks
