#pragma once

#include <string>

#include "cachet/tasks/detection/detection_evaluation.h"

namespace cachet::tasks {

/// Returns COCO's twelve numbers for boxes and, if there are masks, for masks. The words and columns of the table are
/// those of pycocotools, under a line "IoU metric: bbox" or "IoU metric: segm". If the data have no true objects for
/// one of the numbers, the table shows -1.000. If the standard error of AP is known, an additional line shows it.
std::string coco_table(const DetectionEvaluation& evaluation);

}  // namespace cachet::tasks
