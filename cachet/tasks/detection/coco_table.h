#pragma once

#include <string>

#include "cachet/tasks/detection/detection_evaluation.h"

namespace cachet::tasks {

/// The twelve numbers of boxes and, where there are some, of masks, each in the words and columns of pycocotools' own
/// table under a line "IoU metric: bbox" or "IoU metric: segm". A number that no object affects is -1.000. If it is
/// known, a line after them has the standard error of AP.
std::string coco_table(const DetectionEvaluation& evaluation);

}  // namespace cachet::tasks
