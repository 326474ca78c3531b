#pragma once

#include <ATen/core/Tensor.h>

#include "cachet/config/view.h"
#include "cachet/models/detection/detection_sample.h"

namespace cachet::models {

/// How detections are selected from many scored boxes.
struct DetectionLimits {
  double least_score = 0.05;   // above which a class of a box counts
  double iou_threshold = 0.5;  // between two of one class, above which the less sure one goes
  int64_t most = 100;          // of an image; below 0: all

  /// Keys, as mmdetection's test_cfg has them: score_thr, nms_iou_threshold, max_per_img.
  static DetectionLimits read(const config::View& table, DetectionLimits defaults);
};

/// boxes (n, 4), one for all classes, or (n, classes·4); scores (n, classes + 1), the last the background's, which is
/// not looked at -> boxes, scores and labels, the surest first. Equal scores stay in the order box, class.
Detections multiclass_nms(const at::Tensor& boxes, const at::Tensor& scores, const DetectionLimits& limits);

}  // namespace cachet::models
