#pragma once

#include <ATen/core/Tensor.h>

#include "cachet/config/view.h"
#include "cachet/models/detection/detection_sample.h"

namespace cachet::models {

/// How a box is assigned to an object: to the one with the largest intersection over union, if that is large enough.
struct AssignmentOptions {
  double positive_iou = 0.7;        // from here on a box shows its object
  double negative_iou = 0.3;        // below it is background; between the two it is left out
  double least_positive_iou = 0.3;  // of the best boxes of an object that no box reaches positive_iou of
  bool match_low_quality = true;    // whether these become positive
  bool all_best = true;             // of equally good boxes all, or the first alone
  double ignored_share = -1;        // of a box on ignored ones, above which it is left out; below 0: none is
  bool ignored_by_box = true;       // the overlap is a fraction of the box, or else of the ignored one

  /// Keys of the table `assigner`, as mmdetection has them: pos_iou_thr, neg_iou_thr, min_pos_iou, match_low_quality,
  /// gt_max_assign_all, ignore_iof_thr, ignore_wrt_candidates.
  static AssignmentOptions read(const config::View& table, AssignmentOptions defaults);
};

struct Assignment {
  static constexpr int64_t kLeftOut = -1, kBackground = 0;
  at::Tensor objects;   // (n) int64: kLeftOut, kBackground, or 1 + the object
  at::Tensor overlaps;  // (n): the largest intersection over union with any object
};

/// boxes (n, 4); objects (m, 4); ignored (k, 4) or undefined. Where two objects are equally near, the first is taken;
/// an object's best boxes become its own even where another is nearer, the last object's at the end. Where there is no
/// object all boxes are background, those on ignored ones too, as mmdetection has it.
Assignment assign(const at::Tensor& boxes, const at::Tensor& objects, const at::Tensor& ignored,
                  const AssignmentOptions& options);

}  // namespace cachet::models
