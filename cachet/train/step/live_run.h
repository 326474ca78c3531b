#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cachet/train/checkpoints/checkpoint.h"
#include "cachet/train/data_parallel/part_states.h"
#include "cachet/train/optimizer/schedule.h"
#include "cachet/train/optimizer/weight_average.h"
#include "cachet/train/step/training_step.h"
#include "cachet/train/training_task.h"

namespace cachet::train {

/// The length of a run whose epochs have so many micro-batches.
RunLength run_length(const TrainOptions& options, int64_t batches_per_epoch);

/// A run in memory, between two optimizer steps: model, optimizer, averaged weights, generators, the iterator of
/// micro-batches, and the numbers of TrainState. This is exactly what a checkpoint captures and restores.
class LiveRun {
 public:
  /// Moves the task's model to the device of the options. Throws std::runtime_error where there is no such device.
  /// `processes`: those that train the model together, of whom this is one, each with a part of the options' batches;
  /// null where this one trains alone. What is drawn in training is drawn by each for itself.
  LiveRun(TrainingTask& task, const Options& options, std::shared_ptr<processes::ProcessGroup> processes = nullptr);

  /// Takes the next step; `stop_signal` is the signal that asked this process to stop; the others get it. Throws what
  /// TrainingStep::run() throws; the run is then of no further use.
  StepSummary advance(int stop_signal = 0);

  /// Fills the state of the micro-batches to its size in the middle of an epoch, with synthetic values, to measure the
  /// cost of the next step.
  void fill_batches();

  /// Throws NotFinite naming the first tensor with a NaN or an infinity: nothing else is ever saved. With several
  /// processes, rank 0 captures, and waits for send_state() of the others. Throws std::logic_error if their weights
  /// differ from its own.
  Checkpoint capture() const;
  /// About how many bytes a checkpoint takes: parameters, two moments of each, averages, and the states of all parts.
  int64_t expected_checkpoint_bytes() const;
  /// Sends rank 0 this process's parts of a checkpoint: its generators, its state between batches, the states of its
  /// parts.
  void send_state() const;
  /// The checkpoint may have been made on another device, or, if parts have states of their own, by another number of
  /// processes with as many parts together. Returns the reasons why the run does not continue bit by bit, lines for its
  /// log. Throws std::runtime_error or io::Error for a checkpoint of another model, another recipe, other data or
  /// another number of parts.
  std::vector<std::string> restore(const Checkpoint& checkpoint);

  /// The task's metrics under evaluation mode, with the averaged weights where there are any. Draws of random numbers
  /// in an evaluation leave training's as they were. Throws NotFinite for weights that are not.
  Metrics evaluate(const EvaluationProgress& progress);

  int64_t steps_per_epoch() const { return steps_per_epoch_; }
  int64_t total_steps() const { return total_steps_; }
  /// Of the whole run.
  RunLength length() const { return run_length(options_.train, batches_per_epoch_); }
  int64_t epoch_of(int64_t step) const { return step == 0 ? 1 : (step - 1) / steps_per_epoch_ + 1; }  // from 1 on
  double learning_rate() const { return schedule_.learning_rate(state.step); }  // of the next step
  c10::Device device() const { return device_; }
  const TrainingStep& training_step() const { return training_step_; }
  /// Null unless parts have states of their own.
  const PartStates* parts() const { return parts_.get(); }

  /// Makes states of the averaged weights' own (statistics of norms, caches) by batches of training, for the evaluation
  /// of this step and its checkpoint, if the options ask for it. `passed` is called after each batch. All processes
  /// take part. What is trained does not change. Returns whether the averaged weights had other states before. Throws
  /// NotFinite.
  bool renew_average(const std::function<void(int64_t done, int64_t total)>& passed = {});
  bool renews_average() const { return renews_average_; }

  TrainState state;

 private:
  /// A step whose NotFinite also names what of the model has outgrown float32.
  StepSummary named_step(int64_t micro_batches, int stop_signal);
  void open_batches(const io::TensorMap& carried);
  /// The generators of this process, by the names that a checkpoint has.
  io::TensorMap own_generators() const;
  /// The same of the tensors that the batches carry from step to step.
  io::TensorMap own_carried() const;
  int64_t own_parts() const { return parts_ ? parts_->own() : 1; }
  int64_t part_number(int64_t own) const { return parts_ ? parts_->number(own) : rank(); }
  /// The state of a checkpoint as this process counts micro-batches.
  TrainState recounted(TrainState saved) const;
  std::vector<std::string> restore_parts(const Checkpoint& checkpoint);
  int64_t rank() const { return processes_ ? processes_->rank() : 0; }
  int64_t world_size() const { return processes_ ? processes_->size() : 1; }
  std::string own_state() const;
  /// What all processes must have alike: the parameters, and the buffers unless each part has its own.
  io::TensorMap common_tensors() const;
  void move_cursor(int64_t micro_batches);

  TrainingTask& task_;
  Options options_;
  std::shared_ptr<processes::ProcessGroup> processes_;
  c10::Device device_;
  std::unique_ptr<PartStates> parts_;
  TrainingStep training_step_;
  int64_t batches_per_epoch_, steps_per_epoch_, total_steps_;
  Schedule schedule_;
  bool renews_average_;
  std::optional<WeightAverage> average_;
  std::unique_ptr<TrainingBatches> batches_;  // none between epochs
};

}  // namespace cachet::train
