#pragma once

#include <cstdint>
#include <memory>

#include "cachet/data/vision/coco/detection_loader.h"
#include "cachet/models/detection/object_detector.h"
#include "cachet/train/training_task.h"

namespace cachet::tasks {

/// The divisor of the losses of anchors: the count of the whole step (all micro-batches in all processes), or the count
/// of each part (a micro-batch of a process).
enum class LossDivisor { step, part };

/// Returns the position of an image in a batch whose sides are multiples of `multiple`.
models::DetectionImage place_of(const data::DetectionSample& sample, int64_t multiple);

struct DetectionTrainingBatchesOptions {
  int64_t multiple = 32;  // divisor of the sides of a batch
  uint64_t seed = 0;
  int64_t first_batch = 0;  // number of the epoch's first batch in the run
  LossDivisor divisor = LossDivisor::step;
  bool joint = false;  // whether several processes have parts of a batch, and the model sums over the whole batch
};

/// Computes the losses of a detector over an epoch's batches. Seed, batch number and image determine which anchors and
/// proposals take part. The model must outlive the batches.
std::unique_ptr<train::TrainingBatches> detection_batches(models::ObjectDetector& model,
                                                          data::BatchIterator<data::DetectionBatch> batches,
                                                          const DetectionTrainingBatchesOptions& options);

}  // namespace cachet::tasks
