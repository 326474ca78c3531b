#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cachet/ops/support/host_flag.h"
#include "cachet/ops/support/retained_values.h"
#include "cachet/train/optimizer/optimizer.h"
#include "cachet/train/optimizer/weight_average.h"
#include "cachet/train/options.h"
#include "cachet/train/step/fixed_gradients.h"
#include "cachet/train/step/fixed_tensors.h"
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
             Optimizer& optimizer, WeightAverage* average, std::unique_ptr<StepExecutor> executor);

  /// Launches a step of `micro_batches` micro-batches. `average_weight` is the weight of the new parameters in the
  /// averaged weights. Returns the host numbers of this step, and the numbers of the step before it (read_steps 1) or,
  /// in the first step after settle(), none (read_steps 0). Throws NotFinite for the step before it.
  StepSummary run(TrainingBatches& batches, int64_t micro_batches, const UpdateRates& rates, double average_weight);

  /// Waits for the last step and returns its numbers (read_steps 1). If they are already read, returns nothing_read().
  StepSummary settle();

  /// Call this function after tensors of the model or the optimizer were replaced (such as by a resume).
  void forget() { executor_->forget(); }

  std::vector<std::string> take_notes() { return executor_->take_notes(); }

 private:
  enum Scalar { kUnit, kWeight, kPenaltyFactor, kGradientFactor, kHasWeight, kAverageWeight, kFirstRate };

  /// What the work of one key leaves: the host numbers of its last call, and the tensors that it wrote.
  struct Recorded {
    MicroBatchNumbers micro_batch;
    at::Tensor numbers;              // float64: of the micro-batch; after the last one, those of the update, too
    std::vector<at::Tensor> passed;  // PreparedBatch::tensors after the forward pass
    std::string host_flags;          // of the modules after the work
    std::vector<ops::RetainedValues::Value> retained;  // memoized values that the work reads
  };
  /// A step whose numbers are still on the device, or on their way.
  struct Pending {
    std::vector<MicroBatchNumbers> micro_batches;
    std::vector<std::unique_ptr<HostRead>> reads;  // one for each micro-batch
    std::vector<std::string> parameters;           // those with a gradient
    double weight = 0;                             // of the whole step
  };

  void micro_batch(TrainingBatches& batches, int64_t index, int64_t count, const UpdateRates& rates,
                   double average_weight, Pending& pending, StepSummary& summary);
  /// The device work of a micro-batch.
  void work(TrainingBatches& batches, const PreparedBatch& prepared, bool first, bool last, Recorded& recorded);
  void begin();
  void update(bool single, std::vector<at::Tensor>& numbers);
  /// The facts that modules store on the host. They decide which operations a pass calls.
  std::string host_flags() const;
  void set_host_flags(const std::string& flags);
  at::Tensor scalar(int index, at::ScalarType type) const;
  StepSummary read(Pending pending) const;

  TrainingTask& task_;
  Precision precision_;
  double clip_norm_;
  Optimizer& optimizer_;
  WeightAverage* average_;
  std::unique_ptr<StepExecutor> executor_;
  FixedGradients gradients_;
  FixedTensors inputs_;
  std::vector<at::Tensor> buffers_, buffers_before_;
  std::vector<ops::HostFlag*> flagged_;
  at::Tensor scalars_;  // float64, by Scalar; then a rate for each group of the optimizer
  at::Tensor bad_;      // of this step: above 0 if a number is not finite
  at::Tensor stopped_;  // float32: 1 after the first bad step, else 0
  std::map<std::string, Recorded> recorded_;
  double unit_ = 0, total_weight_ = 0;  // of the step that is being launched
  std::optional<double> momentum_;
  bool moved_ = false;  // whether gradients changed their addresses
  std::optional<Pending> pending_;
};

}  // namespace cachet::train
