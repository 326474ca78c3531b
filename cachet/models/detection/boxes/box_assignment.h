#pragma once

#include <ATen/core/Tensor.h>

#include "cachet/config/view.h"
#include "cachet/models/detection/detection_sample.h"

namespace cachet::models {

/// The rules that assign a box to the object with the largest intersection over union (IoU) if the IoU is large enough.
struct AssignmentOptions {
  double positive_iou = 0.7;        // minimum overlap at which a box is assigned to an object
  double negative_iou = 0.3;        // boxes with less overlap are background; boxes between the two limits are left out
  double least_positive_iou = 0.3;  // minimum overlap at which the best boxes of an object are assigned to it
  bool match_low_quality = true;    // whether an object's best boxes are assigned to it even below positive_iou
  bool all_best = true;             // whether all equally good boxes are assigned, or only the first
  double ignored_share = -1;        // boxes with a larger fraction on ignored boxes are left out; below 0: no limit
  bool ignored_by_box = true;       // denominator of the fraction: the box's area (true) or the ignored box's area

  /// Reads the keys of the table `assigner`, which are mmdetection's: pos_iou_thr, neg_iou_thr, min_pos_iou,
  /// match_low_quality, gt_max_assign_all, ignore_iof_thr, ignore_wrt_candidates.
  static AssignmentOptions read(const config::View& table, AssignmentOptions defaults);
};

struct Assignment {
  static constexpr int64_t kLeftOut = -1, kBackground = 0;
  at::Tensor objects;   // (n) int64: kLeftOut, kBackground, or 1 + the object's index
  at::Tensor overlaps;  // (n): the largest intersection over union with any object
};

/// boxes (n, 4); objects (m, 4); ignored (k, 4) or undefined. If two objects overlap a box equally, the box is assigned
/// to the first of them. The boxes with the largest overlap with an object are assigned to this object, even if another
/// object overlaps them more. If several objects have the same best box, it is assigned to the last of them. If there
/// are no objects, all boxes are background, even boxes that overlap ignored boxes (as in mmdetection).
Assignment assign(const at::Tensor& boxes, const at::Tensor& objects, const at::Tensor& ignored,
                  const AssignmentOptions& options);

}  // namespace cachet::models
