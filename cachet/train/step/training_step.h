#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cachet/ops/support/finite.h"
#include "cachet/processes/process_group.h"
#include "cachet/train/data_parallel/part_states.h"
#include "cachet/train/optimizer/optimizer.h"
#include "cachet/train/options.h"
#include "cachet/train/step/fixed_gradients.h"
#include "cachet/train/step/gradients.h"
#include "cachet/train/step/replayed_passes.h"
#include "cachet/train/step/step_summary.h"
#include "cachet/train/step/step_sums.h"
#include "cachet/train/training_task.h"

namespace cachet::train {

/// The error for a loss, a gradient, a weight or a score that is NaN or infinite. what() names the value.
using ops::NotFinite;

/// One optimizer step. run() has these phases in order: zero gradients, accumulate, all-reduce, check, clip, update.
class TrainingStep {
 public:
  /// `processes` are all processes that train the model, each with a part of every micro-batch, or null if this process
  /// trains alone with whole micro-batches. If the parts of a step have their own states, each micro-batch of this
  /// process is one part, and `parts` has the states of the parts. If all parts of a step use one state, that of the
  /// model, `parts` is null. `processes` and `parts` must outlive this object.
  TrainingStep(TrainingTask& task, const Options& options, std::shared_ptr<processes::ProcessGroup> processes = nullptr,
               PartStates* parts = nullptr);

  /// Takes `micro_batches` micro-batches. The step's gradient equals the gradient of one large batch with all samples
  /// of the step (see ForwardResult). Each forward pass updates the model's state (batch statistics, caches) once, in
  /// order. If the whole step has weight 0, no parameter is updated. Before the end of the last backward pass, the step
  /// reads no values from the device. Then, the step reads all losses, metrics and gradient norms at once.
  ///
  /// If there are several processes, each process gets the sums over all processes, and makes the same update.
  /// `stop_signal` is the signal that asked this process to stop, or 0 if there was none. Throws NotFinite before the
  /// update, in all processes; std::runtime_error if the batches end early; std::logic_error if a weight is negative or
  /// not finite.
  StepSummary run(TrainingBatches& batches, int64_t micro_batches, const UpdateRates& rates, int stop_signal = 0);

  /// Runs the forward and backward passes of later steps with `executor`, which may replay them. The sums over
  /// processes and the update are not recorded. The model's modules must not sum over processes during a pass, and the
  /// parts of a step must not have states of their own.
  void replay_passes(std::shared_ptr<StepExecutor> executor);
  /// Call this function after tensors of the model were replaced (such as by a resume).
  void forget_passes();
  /// Returns notes for the log since the last call, such as the reason why passes cannot be replayed.
  std::vector<std::string> take_notes();

  Optimizer& optimizer() { return *optimizer_; }
  const Optimizer& optimizer() const { return *optimizer_; }
  const std::vector<NamedParameter>& parameters() const { return parameters_; }
  std::string group_summary() const { return group_summary_; }
  int64_t parameter_bytes() const;

 private:
  /// The results of a step's backward passes. Each gradient is the sum over the micro-batches of this process, divided
  /// by `unit`.
  struct Accumulated {
    double unit = 0;    // the divisor of the loss: the weight of the first micro-batch that has one, of all processes;
                        // with parts, part 0's weight
    double weight = 0;  // weight of all micro-batches of this process
    std::vector<MicroBatchNumbers> micro_batches;
    std::vector<at::Tensor>
        numbers;  // scalars or vectors: numbers of all micro-batches; they stay on the device until the step reads them
  };

  void zero_gradients() const;
  Accumulated accumulate(TrainingBatches& batches, int64_t micro_batches, StepSummary& summary) const;
  /// Waits until the data of the whole step are loaded, then calls batches.count_step() for the divisor of the loss.
  void fetch_step(TrainingBatches& batches, int64_t micro_batches, StepSummary& summary) const;
  void accumulate_one(TrainingBatches& batches, Accumulated& step, StepSummary& summary) const;
  void replay_one(TrainingBatches& batches, Accumulated& step, StepSummary& summary) const;
  ForwardResult forward(TrainingBatches& batches) const;
  double unit_of(double weight) const;

  /// Divides the summed gradients by the total weight of the samples of all processes. If the total weight is 0,
  /// removes the gradients.
  void all_reduce_gradients(const Accumulated& step) const;

  /// Reads the numbers of all micro-batches and the norms of the gradients from the device at once, and sums the
  /// numbers over all processes. Throws NotFinite for the first number that is not finite.
  void read_and_check(const Accumulated& step, StepSummary& summary) const;
  void all_reduce_sums(StepSummary& summary) const;
  void take_norm(std::span<const double> norms, StepSummary& summary) const;

  double sum_over_processes(double number) const;
  void sum_over_processes(std::vector<double>& numbers) const;

  TrainingTask& task_;
  torch::nn::Module& model_;
  Precision precision_;
  double clip_norm_;
  c10::DeviceType device_;
  std::string group_summary_;
  std::vector<NamedParameter> parameters_;
  std::unique_ptr<Optimizer> optimizer_;
  std::shared_ptr<processes::ProcessGroup> processes_;
  PartStates* parts_;
  std::unique_ptr<ReplayedPasses> passes_;           // null: passes run directly
  std::unique_ptr<FixedGradients> fixed_gradients_;  // of replayed passes
};

}  // namespace cachet::train
