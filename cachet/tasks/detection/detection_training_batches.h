#pragma once

#include <cstdint>
#include <memory>

#include "cachet/data/vision/coco/detection_loader.h"
#include "cachet/models/detection/object_detector.h"
#include "cachet/train/training_task.h"

namespace cachet::tasks {

/// The number of anchors by which the losses of the anchors are divided. With LossDivisor::step, the anchors are
/// counted in the whole step (all micro-batches in all processes). With LossDivisor::part, the anchors are counted
/// separately in each part (one micro-batch of one process).
enum class LossDivisor { step, part };

/// Returns the sizes of an image: original, resized, and padded to multiples of `multiple`; and the scale of resizing.
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
