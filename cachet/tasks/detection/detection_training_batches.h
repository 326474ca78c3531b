#pragma once

#include <cstdint>
#include <memory>

#include "cachet/data/vision/coco/detection_loader.h"
#include "cachet/models/detection/object_detector.h"
#include "cachet/train/training_task.h"

namespace cachet::tasks {

/// The divisor of the anchors' losses. With LossDivisor::step, the divisor is a count over the whole step (all
/// micro-batches in all processes). With LossDivisor::part, the divisor is a count over each part (a micro-batch of a
/// process).
enum class LossDivisor { step, part };

/// Returns the position of an image in a batch whose sides are multiples of `multiple`.
models::DetectionImage place_of(const data::DetectionSample& sample, int64_t multiple);

struct DetectionTrainingBatchesOptions {
  int64_t multiple = 32;  // divisor of the sides of a batch
  uint64_t seed = 0;
  int64_t first_batch = 0;  // number of the epoch's first batch, counted over the whole run
  LossDivisor divisor = LossDivisor::step;
  bool joint = false;  // whether several processes have parts of a batch, and the model sums over the whole batch
};

/// Computes the losses of a detector over an epoch's batches. The seed, the batch number and the image determine which
/// anchors and proposals contribute to the losses. The model must outlive the batches.
std::unique_ptr<train::TrainingBatches> detection_batches(models::ObjectDetector& model,
                                                          data::BatchIterator<data::DetectionBatch> batches,
                                                          const DetectionTrainingBatchesOptions& options);

}  // namespace cachet::tasks
