#include "cachet/train/step/micro_batches.h"

#include <memory>
#include <stdexcept>

namespace cachet::train {

int64_t checked_batches(const TrainingTask& task) {
  const int64_t batches = task.batches_per_epoch();
  if (batches < 1) {
    throw std::runtime_error(
        "an epoch has no batch, because the training set is smaller than train.batch_size; lower train.batch_size");
  }
  return batches;
}

int64_t for_each_micro_batch(TrainingTask& task, int64_t count,
                             const std::function<void(TrainingBatches&, int64_t)>& take, int64_t own_parts) {
  int64_t epoch = 0;
  std::unique_ptr<TrainingBatches> batches = task.training_batches(epoch, 0);
  for (int64_t done = 0; done < count; ++done) {
    if (!batches->fetch()) {
      batches = task.training_batches(++epoch, 0);
      if (!batches->fetch()) return done;
    }
    batches->prepare();
    take(*batches, done + 1);
    for (int64_t other = 1; other < own_parts; ++other) batches->fetch();
  }
  return count;
}

}  // namespace cachet::train
