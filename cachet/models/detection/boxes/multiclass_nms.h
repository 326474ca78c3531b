#pragma once

#include <ATen/core/Tensor.h>

#include "cachet/config/view.h"
#include "cachet/models/detection/detection_sample.h"

namespace cachet::models {

/// How detections are selected from many scored boxes.
struct DetectionLimits {
  double least_score = 0.05;   // a class of a box counts if its score is above it
  double iou_threshold = 0.5;  // of two boxes of a class with a larger overlap, the less sure is removed
  int64_t most = 100;          // most detections of an image; below 0: all

  /// Reads the keys of mmdetection's test_cfg: score_thr, nms_iou_threshold, max_per_img.
  static DetectionLimits read(const config::View& table, DetectionLimits defaults);
};

/// boxes (n, 4), one box for all classes, or (n, classes·4); scores (n, classes + 1), where the last, the
/// background's, is ignored -> boxes, scores and labels, the surest first. Equal scores stay in the order box, class.
Detections multiclass_nms(const at::Tensor& boxes, const at::Tensor& scores, const DetectionLimits& limits);

}  // namespace cachet::models
