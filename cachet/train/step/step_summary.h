#pragma once

#include <cstdint>
#include <vector>

#include "cachet/train/step/metrics.h"
#include "cachet/train/training_task.h"

namespace cachet::train {

/// The results of one optimizer step, over all processes.
struct StepSummary {
  std::vector<MetricSum> sums;  // sums of loss and penalty (if any), both weighted; then the task's metrics
  int64_t samples = 0;
  int64_t tokens = 0;
  double gradient_norm = 0;   // norm of all gradients before clipping
  double waited_seconds = 0;  // time that this process waited for data
  int stop_signal = 0;        // the signal that asks all processes to stop after this step; 0: none
  int64_t read_steps = 1;     // number of steps, 0 or 1, to which `sums` and `gradient_norm` belong (DeviceStep)
};

/// Returns a summary without a step (read_steps 0).
StepSummary nothing_read();

/// Waits for all micro-batches of a step, and adds the time to `summary`. Throws std::runtime_error if the batches end.
void wait_for_step(TrainingBatches& batches, int64_t micro_batches, StepSummary& summary);
/// Waits for the next micro-batch, and adds the time to `summary`. Throws std::runtime_error if the batches end.
void wait_for_micro_batch(TrainingBatches& batches, StepSummary& summary);

/// Throws std::logic_error if the weight of a micro-batch is negative or not finite.
void require_weight(double weight);

}  // namespace cachet::train
