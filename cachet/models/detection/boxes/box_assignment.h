#pragma once

#include <ATen/core/Tensor.h>

#include "cachet/config/view.h"
#include "cachet/models/detection/detection_sample.h"

namespace cachet::models {

/// How a box is assigned to an object: to the object with the largest intersection over union, if that is large enough.
struct AssignmentOptions {
  double positive_iou = 0.7;        // least overlap at which a box is assigned to an object
  double negative_iou = 0.3;        // boxes below it are background; boxes between the two are left out
  double least_positive_iou = 0.3;  // least overlap at which an object's best boxes become its own
  bool match_low_quality = true;    // whether an object's best boxes are assigned to it even below positive_iou
  bool all_best = true;             // whether all of equally good boxes are assigned, or only the first
  double ignored_share = -1;        // a box with a larger fraction on ignored boxes is left out; below 0: none is
  bool ignored_by_box = true;       // whether the fraction is of the box's area, or else of the ignored box's

  /// Reads the keys of the table `assigner`, which are mmdetection's: pos_iou_thr, neg_iou_thr, min_pos_iou,
  /// match_low_quality, gt_max_assign_all, ignore_iof_thr, ignore_wrt_candidates.
  static AssignmentOptions read(const config::View& table, AssignmentOptions defaults);
};

struct Assignment {
  static constexpr int64_t kLeftOut = -1, kBackground = 0;
  at::Tensor objects;   // (n) int64: kLeftOut, kBackground, or 1 + the object's index
  at::Tensor overlaps;  // (n): the largest intersection over union with any object
};

/// boxes (n, 4); objects (m, 4); ignored (k, 4) or undefined. Of two objects with equal overlaps, the first is taken.
/// An object's best boxes become its own even if another object overlaps more; of several objects, the last gets the
/// box. Without objects, all boxes are background, even those on ignored boxes, as in mmdetection.
Assignment assign(const at::Tensor& boxes, const at::Tensor& objects, const at::Tensor& ignored,
                  const AssignmentOptions& options);

}  // namespace cachet::models
