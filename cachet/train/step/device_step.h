#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cachet/train/optimizer/optimizer.h"
#include "cachet/train/optimizer/weight_average.h"
#include "cachet/train/options.h"
#include "cachet/train/step/fixed_gradients.h"
#include "cachet/train/step/replayed_passes.h"
#include "cachet/train/step/step_executor.h"
#include "cachet/train/step/step_summary.h"
#include "cachet/train/step/step_sums.h"
#include "cachet/train/training_task.h"

namespace cachet::train {

/// An optimizer step that never waits for the device, so that a StepExecutor can record and replay its work. The result
/// of each step is read one step later. The learning rate, the weights and the divisors are numbers on the device.
///
/// If a loss, a penalty or a gradient is not finite, this step and all later steps change nothing: neither weights nor
/// the optimizer's state nor averaged weights nor buffers. The error is thrown when the numbers are read.
class DeviceStep {
 public:
  /// `average` is null without averaged weights. All arguments must outlive this object.
  DeviceStep(TrainingTask& task, const TrainOptions& options, std::vector<NamedParameter> parameters,
             Optimizer& optimizer, WeightAverage* average, std::shared_ptr<StepExecutor> executor);

  /// Launches a step of `micro_batches` micro-batches. `average_weight` is the weight of the new parameters in the
  /// averaged weights. Returns the host numbers of this step, and the numbers of the step before it (read_steps 1) or,
  /// in the first step after settle(), none (read_steps 0). Throws NotFinite for the step before it.
  StepSummary run(TrainingBatches& batches, int64_t micro_batches, const UpdateRates& rates, double average_weight);

  /// Waits for the last step and returns its numbers (read_steps 1). If they are already read, returns nothing_read().
  StepSummary settle();

  /// Call this function after tensors of the model or the optimizer were replaced (such as by a resume).
  void forget() { passes_.forget(); }

  std::vector<std::string> take_notes() { return passes_.executor().take_notes(); }

 private:
  enum Number : int64_t { kGradientFactor, kHasWeight, kAverageWeight, kFirstRate };

  /// A step whose numbers are still on the device, or on their way.
  struct Pending {
    std::vector<MicroBatchNumbers> micro_batches;
    std::vector<std::unique_ptr<HostRead>> reads;  // one for each micro-batch
    std::vector<std::string> parameters;           // those with a gradient
    double weight = 0;                             // of the whole step
  };

  void micro_batch(TrainingBatches& batches, int64_t index, int64_t count, const UpdateRates& rates,
                   double average_weight, Pending& pending, StepSummary& summary);
  /// The work before the first and after the last micro-batch of a step.
  void begin();
  void update(bool single, std::vector<at::Tensor>& numbers);
  StepSummary read(Pending pending) const;

  double clip_norm_;
  Optimizer& optimizer_;
  WeightAverage* average_;
  ReplayedPasses passes_;  // PassNumbers::further: by Number, then a rate for each group of the optimizer
  FixedGradients gradients_;
  std::vector<at::Tensor> buffers_, buffers_before_;
  at::Tensor bad_;                      // of this step: above 0 if a number is not finite
  at::Tensor stopped_;                  // float32: 1 after the first bad step, else 0
  double unit_ = 0, total_weight_ = 0;  // of the step that is being launched
  std::optional<double> momentum_;
  bool moved_ = false;  // whether gradients changed their addresses
  std::optional<Pending> pending_;
};

}  // namespace cachet::train
