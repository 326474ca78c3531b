#pragma once

#include <memory>
#include <span>
#include <vector>

#include "cachet/ops/finite.h"
#include "cachet/processes/processes.h"
#include "cachet/train/gradients.h"
#include "cachet/train/optimizer.h"
#include "cachet/train/options.h"
#include "cachet/train/part_states.h"
#include "cachet/train/task.h"

namespace cachet::train {

/// A loss, a gradient, a weight or a score that is NaN or infinite. what() names it.
using ops::NotFinite;

/// One optimizer step: micro-batches, backward passes, clipping, update.
class TrainingStep {
 public:
  /// `processes`: those that have a part of each micro-batch, of whom this is one; null where this one has the whole.
  /// `parts`: if the parts of a step have states of their own, of which each micro-batch of this process is one; they
  /// must outlive the step. Null: all share the model's.
  TrainingStep(Task& task, const Options& options, std::shared_ptr<processes::Processes> processes = nullptr,
               PartStates* parts = nullptr);

  struct Result {
    std::vector<MetricSum> sums;  // the loss and the penalty, where there is one, by weight; then the task's metrics
    int64_t samples = 0;
    int64_t tokens = 0;
    double gradient_norm = 0;  // before clipping
    double waited_seconds = 0;
    int stop_signal = 0;  // by which a process was asked that all stop behind this step; 0: none was
  };
  /// Takes `micro_batches` of the stream: the gradient is that of StepResult, one large batch's. Each forward pass is
  /// one update of the model's state (batch statistics, caches), in order. Where the whole step has no weight no
  /// parameter is updated. Nothing is read from the device before the last backward pass, and then all numbers at once.
  /// Of several processes each gets the sums of all, and updates its parameters alike; `stop_signal` tells them by
  /// which signal this one was asked to stop, 0 for none. Throws NotFinite before the update, in all processes,
  /// std::runtime_error for a stream that ends early, std::logic_error for a weight that is negative or not finite.
  Result run(TrainingStream& stream, int64_t micro_batches, const UpdateRates& rates, int stop_signal = 0);

  Optimizer& optimizer() { return *optimizer_; }
  const Optimizer& optimizer() const { return *optimizer_; }
  std::string group_summary() const { return group_summary_; }
  int64_t parameter_bytes() const;

 private:
  /// A micro-batch behind its backward pass; its numbers still lie on the device.
  struct MicroBatch {
    at::Tensor loss;     // the mean over its weight
    at::Tensor penalty;  // undefined = none
    double weight = 0;
    std::vector<StepMetric> metrics;
  };
  /// `unit` is the weight in whose mean gradients are under way: that of the first micro-batch that has one, in all
  /// processes, or that of part 0 where parts have states of their own. What norms keep of gradients is of that size,
  /// whoever has which part.
  MicroBatch accumulate(TrainingStream& stream, double& unit, Result& result);
  /// The model's answer to the fetched micro-batch.
  StepResult forward(TrainingStream& stream) const;
  /// `weight` is that of this process's first micro-batch.
  double unit_of(double weight) const;
  /// Makes gradients, which are sums over `unit`, means over `weight`.
  void take_means(double unit, double weight) const;
  /// The stream fetches the micro-batches of the whole step and counts in them.
  void begin(TrainingStream& stream, int64_t micro_batches, Result& result) const;
  /// Sums over all processes.
  double sum_of_all(double number) const;
  void sum_over_all(std::vector<double>& numbers) const;
  /// What is to be read of micro-batches, in their order.
  static std::vector<at::Tensor> numbers_of(const std::vector<MicroBatch>& micro_batches);
  /// Reads what is to be known of a step, checks and sums it.
  void read(const std::vector<MicroBatch>& micro_batches, Result& result) const;
  /// The same over all processes, and their gradients, which are sums over `unit` here: means of all behind it.
  void read_and_add_up(const std::vector<MicroBatch>& micro_batches, double unit, Result& result) const;
  void take_sums(const std::vector<MicroBatch>& micro_batches, const std::vector<double>& numbers,
                 Result& result) const;
  void take_norm(std::span<const double> norms, Result& result) const;

  Task& task_;
  torch::nn::Module& model_;
  Precision precision_;
  double clip_norm_;
  c10::DeviceType device_;
  std::string group_summary_;
  std::vector<NamedParameter> parameters_;
  std::unique_ptr<Optimizer> optimizer_;
  std::shared_ptr<processes::Processes> processes_;
  PartStates* parts_;
};

/// Adds sums to those of the same names.
void add_sums(std::vector<MetricSum>& sums, const std::vector<MetricSum>& more);
/// total / count of each that has a count.
Metrics means(const std::vector<MetricSum>& sums);

}  // namespace cachet::train
