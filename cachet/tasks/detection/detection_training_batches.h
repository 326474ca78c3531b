#pragma once

#include <cstdint>
#include <memory>

#include "cachet/data/vision/coco/detection_loader.h"
#include "cachet/models/detection/object_detector.h"
#include "cachet/train/training_task.h"

namespace cachet::tasks {

/// The losses of anchors are divided by the count of the whole step (all micro-batches in all processes), or each part
/// (a micro-batch of a process) divides by its own count.
enum class LossDivisor { step, part };

/// Where an image lies in a batch whose sides are multiples of `multiple`.
models::DetectionImage place_of(const data::DetectionSample& sample, int64_t multiple);

struct DetectionTrainingBatchesOptions {
  int64_t multiple = 32;  // of the sides of a batch
  uint64_t seed = 0;
  int64_t first_batch = 0;  // number of the epoch's first batch in the run
  LossDivisor divisor = LossDivisor::step;
  bool joint = false;  // whether the model sums over the batch with other processes, which have parts of it
};

/// Losses of a detector over an epoch's batches. Which anchors and proposals take part is a function of seed, number of
/// the batch and image. The model outlives the batches.
std::unique_ptr<train::TrainingBatches> detection_batches(models::ObjectDetector& model,
                                                          data::BatchIterator<data::DetectionBatch> batches,
                                                          const DetectionTrainingBatchesOptions& options);

}  // namespace cachet::tasks
