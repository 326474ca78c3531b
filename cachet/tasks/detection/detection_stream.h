#pragma once

#include <cstdint>
#include <memory>

#include "cachet/data/vision/detection_loader.h"
#include "cachet/models/detection/object_detector.h"
#include "cachet/train/task.h"

namespace cachet::tasks {

/// Where an image lies in a batch whose sides are multiples of `multiple`.
models::DetectionImage place_of(const data::DetectionSample& sample, int64_t multiple);

/// Losses of a detector over an epoch's batches. `first_step` is the number of steps before the epoch: which anchors
/// and proposals take part is a function of seed, step and image. The model outlives the stream.
std::unique_ptr<train::TrainingStream> detection_stream(models::ObjectDetector& model,
                                                        data::BatchStream<data::DetectionBatch> batches,
                                                        int64_t multiple, uint64_t seed, int64_t first_step);

}  // namespace cachet::tasks
