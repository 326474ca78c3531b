#pragma once

#include <string>

#include "cachet/tasks/detection/detection_evaluation.h"

namespace cachet::tasks {

/// Returns COCO's twelve numbers for boxes and, if there are any, for masks. Words and columns are those of
/// pycocotools' own table, under a line "IoU metric: bbox" or "IoU metric: segm". A number that no object affects is
/// -1.000. If the standard error of AP is known, another line has it.
std::string coco_table(const DetectionEvaluation& evaluation);

}  // namespace cachet::tasks
