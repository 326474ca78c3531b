#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cachet/train/options.h"
#include "cachet/train/step/replayed_work.h"
#include "cachet/train/step/step_executor.h"
#include "cachet/train/step/step_sums.h"
#include "cachet/train/training_task.h"

namespace cachet::train {

/// The numbers of a micro-batch that its passes read on the device. A replay so reads the numbers of its own step.
struct PassNumbers {
  double unit = 0;                // divisor of the loss in the objective; 0 is read as 1
  bool goes_backward = true;      // whether the micro-batch has a backward pass
  std::vector<double> further{};  // numbers of PassWork
};

/// Work that is recorded together with the passes of a micro-batch.
struct PassWork {
  std::string key;  // with equal texts, `before` and `after` make the same calls
  std::function<void()> before = [] {};
  /// Gets the numbers of the micro-batch on the device as vectors of float64: first the `losses` numbers of loss and
  /// penalty, then the metrics. The function may add further vectors.
  std::function<void(std::vector<at::Tensor>& numbers, size_t losses)> after = [](std::vector<at::Tensor>&, size_t) {};
};

/// The result of the passes of a micro-batch.
struct PassResult {
  MicroBatchNumbers micro_batch;
  at::Tensor numbers;  // float64, on the device; the next call of run() may overwrite the vector
};

/// Runs the forward and backward passes of micro-batches with a StepExecutor, which may replay the passes. Inputs are
/// at fixed addresses, and all numbers that change from step to step are on the device. The backward passes add to the
/// gradients of the parameters, whose addresses the caller fixes (FixedGradients).
class ReplayedPasses {
 public:
  /// `further`: the size of PassNumbers::further.
  ReplayedPasses(TrainingTask& task, Precision precision, int64_t further, std::shared_ptr<StepExecutor> executor);

  /// Runs or replays the passes of the micro-batch that `batches` has prepared, and describes as `prepared`. The
  /// gradient is the gradient of loss / unit + penalty · weight / unit.
  PassResult run(TrainingBatches& batches, const PreparedBatch& prepared, const PassNumbers& numbers,
                 const PassWork& work = {});

  /// Returns PassNumbers::further[index] of the micro-batch, as a scalar on the device.
  at::Tensor further(int64_t index, at::ScalarType type) const { return scalar(kFurther + index, type); }

  /// Forgets all recordings. Call this function after addresses of gradients, of tensors of the model or of the
  /// optimizer have changed.
  void forget() { executor().forget(); }

  StepExecutor& executor() { return replayed_.executor(); }

 private:
  enum Scalar : int64_t { kUnit, kWeight, kPenaltyFactor, kFurther };

  void write(double weight, const PassNumbers& numbers);
  /// The device work of a micro-batch.
  PassResult launch(TrainingBatches& batches, const PreparedBatch& prepared, bool goes_backward,
                    const PassWork& work) const;
  at::Tensor scalar(int64_t index, at::ScalarType type) const { return scalars_[index].to(type); }

  TrainingTask& task_;
  Precision precision_;
  ReplayedWork<PassResult> replayed_;
  at::Tensor scalars_;  // float64, by Scalar
};

/// Returns the description of the prepared micro-batch. Throws std::logic_error if the task has none, or if its weight
/// is negative or not finite.
PreparedBatch described_batch(TrainingBatches& batches);

}  // namespace cachet::train
