#pragma once

#include <ATen/core/Tensor.h>

#include "cachet/config/view.h"
#include "cachet/models/detection/detection_sample.h"

namespace cachet::models {

/// The limits by which detections are selected from many scored boxes.
struct DetectionLimits {
  double least_score = 0.05;   // a class of a box can be a detection only if its score is above this
  double iou_threshold = 0.5;  // if two boxes of a class overlap more, the box with the lower score is removed
  int64_t most = 100;          // maximum number of detections of an image; below 0: all

  /// Reads the keys of mmdetection's test_cfg: score_thr, nms_iou_threshold, max_per_img.
  static DetectionLimits read(const config::View& table, DetectionLimits defaults);
};

/// Selects detections among boxes (n, 4), one box for all classes, or (n, classes·4). scores (n, classes + 1); the last
/// class, the background, is ignored. Detections are sorted by descending score, then by box, then by class.
Detections multiclass_nms(const at::Tensor& boxes, const at::Tensor& scores, const DetectionLimits& limits);

}  // namespace cachet::models
