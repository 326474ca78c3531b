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

/// The lowest score at which a detection is shown to people as a prediction.
inline constexpr double kShownScore = 0.3;

/// The numbers that COCO defines for boxes, or for masks.
struct OverlapNumbers {
  struct ClassRow {
    int64_t truths = 0, detections = 0;
    double ap = -1, ap50 = -1, ap75 = -1, ar = -1;
    bool operator==(const ClassRow&) const = default;
  };
  std::array<double, 12> numbers{};  // numbers in COCO's order; −1 if there is no value
  std::optional<double> ap_error{};  // the standard error of the first number, if it is known
  std::vector<ClassRow> classes{};
  std::vector<std::vector<double>> curves{};  // precision at 101 recalls, for IoU from 0.5 to 0.9 in steps of 0.1
  bool operator==(const OverlapNumbers&) const = default;
};

/// An image of the evaluation that the page shows, and the objects that the model found in it.
struct ShownImage {
  int64_t index = 0;     // index in the evaluation set
  double agreement = 0;  // F1 of predictions and true objects at an overlap of 0.5
  std::vector<FoundObject> found{};
};

/// The results of an evaluation.
struct DetectionEvaluation {
  int64_t images = 0;
  int64_t unreadable = 0;  // number of images that could not be read; all their objects count as missed
  OverlapNumbers boxes{};
  std::optional<OverlapNumbers> masks{};
  /// Counts of each pair of a true class and a predicted class, (classes + 1)². The last row counts predictions without
  /// a true object, and the last column counts true objects that were not found.
  std::vector<int64_t> confusion{};
  std::vector<ShownImage> best{}, worst{};

  /// Returns "box_ap", "box_ap_stderr", "box_ap50", …, "mask_ap", …; leaves out metrics without objects. If no object
  /// was measured, "box_ap" and "mask_ap" are NaN. If images could not be read, the result also has the metric
  /// "unreadable_images".
  train::Metrics metrics() const;
};

/// Describes the metrics of DetectionEvaluation::metrics(). The deciding metric is box_ap.
std::vector<report::MetricDescription> detection_metrics(bool masks);

/// Sums the results of images, in any order.
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

/// Convert an evaluation to the JSON in the run's folder, and convert this JSON back to an evaluation. If the text is
/// not the JSON of an evaluation with `classes` classes, the reading function returns std::nullopt.
std::string to_json(const DetectionEvaluation& evaluation, const std::vector<std::string>& class_names);
std::optional<DetectionEvaluation> detection_evaluation_from_json(const std::string& text, int64_t classes);

/// Returns COCO's table of twelve numbers, the table of classes, precision and recall, and the confusion of classes.
std::vector<report::Block> detection_blocks(const DetectionEvaluation& evaluation,
                                            const std::vector<std::string>& class_names);

}  // namespace cachet::tasks
