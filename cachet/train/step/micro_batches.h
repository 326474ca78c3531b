#pragma once

#include <cstdint>
#include <functional>

#include "cachet/train/training_task.h"

namespace cachet::train {

/// How many micro-batches an epoch of a task has. Throws std::runtime_error where it has none.
int64_t checked_batches(const TrainingTask& task);

/// Fetches and prepares `count` micro-batches of training, epoch after epoch from the first on, and calls `take` after
/// each with the batches and its number, from 1 on. Returns how many there were: fewer if an epoch has none. If a
/// step has several parts of this process, of which each micro-batch is one, it takes the first part of each step
/// alone.
int64_t for_each_micro_batch(TrainingTask& task, int64_t count,
                             const std::function<void(TrainingBatches&, int64_t)>& take, int64_t own_parts = 1);

}  // namespace cachet::train
