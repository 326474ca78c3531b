#pragma once

#include <cstdint>
#include <functional>

#include "cachet/train/training_task.h"

namespace cachet::train {

/// Returns the number of micro-batches in an epoch of the task. Throws std::runtime_error if an epoch has no
/// micro-batch.
int64_t checked_batches(const TrainingTask& task);

/// Fetches and prepares `count` micro-batches of training, from the first epoch on. For each micro-batch, calls `take`
/// with the batches and the micro-batch's number, counted from 1. Returns the number of micro-batches that were passed
/// to `take`, which is below `count` only if an epoch has no micro-batches. If this process has several parts of a step
/// (`own_parts` > 1), passes only the micro-batches of the first part to `take`, and skips the others.
int64_t for_each_micro_batch(TrainingTask& task, int64_t count,
                             const std::function<void(TrainingBatches&, int64_t)>& take, int64_t own_parts = 1);

}  // namespace cachet::train
