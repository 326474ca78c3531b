#include "cachet/models/detection/object_detector.h"

#include "cachet/models/detection/detector_checks.h"

namespace cachet::models {

DetectionLosses ObjectDetector::losses(const DetectionBatch& batch) {
  check_detection_images(batch.images, batch.places);
  return losses(batch, anchor_targets(batch, {batch.images.size(2), batch.images.size(3)}));
}

}  // namespace cachet::models
