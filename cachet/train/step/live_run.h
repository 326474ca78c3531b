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
#include "cachet/train/profile/memory_use.h"
#include "cachet/train/step/device_step.h"
#include "cachet/train/step/training_step.h"
#include "cachet/train/training_task.h"

namespace cachet::train {

/// Returns the length of a run that has `batches_per_epoch` micro-batches in each epoch.
RunLength run_length(const TrainOptions& options, int64_t batches_per_epoch);

/// The position of a step in a run. All numbers are counted from 1.
struct StepPosition {
  int64_t step = 0;
  int64_t epoch = 0;
  int64_t batch = 0;  // first micro-batch of the step in its epoch
};

/// A run in memory, between two optimizer steps: model, optimizer, averaged weights, generators, the iterator of
/// micro-batches, and the numbers of TrainState. A checkpoint captures and restores exactly the content of a LiveRun.
class LiveRun {
 public:
  /// Moves the task's model to the device of the options. Throws std::runtime_error if the device does not exist.
  /// `processes` are the processes that train the model together; each of them trains on a part of each batch. If this
  /// process trains alone, `processes` is null. In training, each process draws its own random numbers.
  /// If `executor` is given, it runs the evaluations' passes, and the steps, which are DeviceSteps. With several
  /// processes, it runs the passes of TrainingSteps. Without an executor, graph_plan() chooses.
  LiveRun(TrainingTask& task, const Options& options, std::shared_ptr<processes::ProcessGroup> processes = nullptr,
          std::shared_ptr<StepExecutor> executor = nullptr);
  LiveRun(const LiveRun&) = delete;
  LiveRun& operator=(const LiveRun&) = delete;
  ~LiveRun();

  /// Takes the next step. `stop_signal` is the signal that asked this process to stop, and is passed to the other
  /// processes. Throws the errors of TrainingStep::run(). After an exception, the run must not be used any more. If the
  /// steps are DeviceSteps, the sums and the norm belong to the step before this one.
  StepSummary advance(int stop_signal = 0);

  /// Waits for the last step, and returns its sums and norm if advance() has not returned them. Call settle() before
  /// all functions below that read or write weights or states. Throws NotFinite.
  StepSummary settle();

  /// Returns new lines for the log: how the steps run, and why a step could not be replayed.
  std::vector<std::string> take_step_notes();

  /// Returns the position of the step to which an exception NotFinite of advance() or settle() belongs.
  StepPosition failed_step() const { return unread_.value_or(position()); }

  /// Fills the state between micro-batches with synthetic values. The state gets the size that it has in the middle of
  /// an epoch, so that the cost of the next step can be measured.
  void fill_batches();

  /// Returns the checkpoint. If a tensor has NaN or infinity, throws NotFinite, which names the first such tensor. With
  /// several processes, only rank 0 calls this function, and waits for send_state() of the other processes. Throws
  /// std::logic_error if another process has different weights.
  Checkpoint capture() const;
  /// Estimates the bytes of a checkpoint: parameters, two moments per parameter, averages, states of a step's parts.
  int64_t expected_checkpoint_bytes() const;
  /// Sends this process's contribution to a checkpoint to rank 0: its generators, its state between batches, and the
  /// states of its parts.
  void send_state() const;
  /// Restores a checkpoint. The checkpoint may have been written on another device. If the parts of a batch have their
  /// own states, the checkpoint may also come from another number of processes, as long as the number of parts is the
  /// same. Returns the reasons why the continued run is not bitwise equal to an uninterrupted run, as lines for its
  /// log. Throws std::runtime_error or io::Error if the checkpoint has another model, recipe, data or number of parts.
  std::vector<std::string> restore(const Checkpoint& checkpoint);

  /// Returns the task's metrics in evaluation mode, with the averaged weights if they exist. Random draws in an
  /// evaluation do not affect the random draws in training. Throws NotFinite if weights are not finite.
  Metrics evaluate(const EvaluationProgress& progress);

  int64_t steps_per_epoch() const { return steps_per_epoch_; }
  int64_t total_steps() const { return total_steps_; }
  /// Returns the length of the whole run, in steps and epochs.
  RunLength length() const { return run_length(options_.train, batches_per_epoch_); }
  int64_t epoch_of(int64_t step) const { return step == 0 ? 1 : (step - 1) / steps_per_epoch_ + 1; }  // counted from 1
  double learning_rate() const { return schedule_.learning_rate(state.step); }  // rate of the next step
  c10::Device device() const { return device_; }
  const TrainingStep& training_step() const { return training_step_; }
  /// Returns the bytes of the tensors that a step leaves, on the device of the model: weights, states, gradients,
  /// optimizer. Activations are 0.
  MemoryUse memory_use() const;
  /// Whether each step allocates new gradients. Otherwise, the steps write into the same gradients.
  bool allocates_gradients() const { return device_step_ == nullptr; }
  /// Returns the state of each part of a batch, or null if all parts have one common state.
  const PartStates* parts() const { return parts_.get(); }

  /// If the options require it, computes the averaged weights' own states (statistics of norms, caches) with training
  /// batches. The evaluation and the checkpoint of the current step use the averaged weights with the computed states.
  /// Calls `passed` after each batch. All processes of the run compute the states together. The trained weights do not
  /// change. Returns whether the computation changed the states of the averaged weights. Throws NotFinite.
  bool renew_average(const std::function<void(int64_t done, int64_t total)>& passed = {});
  bool renews_average() const { return renews_average_; }

  TrainState state;

 private:
  /// Calls `step`. The message of NotFinite also names the part of the model whose values outgrow float32.
  StepSummary named(const std::function<StepSummary()>& step) const;
  StepSummary take_step(int64_t micro_batches, int stop_signal);
  void add_numbers(const StepSummary& result);
  /// Returns the position of the next step.
  StepPosition position() const { return {state.step + 1, state.epoch + 1, state.batch + 1}; }
  /// Throws std::logic_error if the last step is still under way.
  void require_settled() const;
  void open_batches(const io::TensorMap& carried);
  /// Returns the states of this process's generators, under their names in a checkpoint.
  io::TensorMap own_generators() const;
  /// Returns this process's state between batches, as tensors under their names in a checkpoint.
  io::TensorMap own_carried() const;
  int64_t own_parts() const { return parts_ ? parts_->own() : 1; }
  int64_t part_number(int64_t own) const { return parts_ ? parts_->number(own) : rank(); }
  /// If the parts of a step have their own states, adapts `saved.batch` to this run's number of parts per process.
  TrainState recounted(TrainState saved) const;
  std::vector<std::string> restore_parts(const Checkpoint& checkpoint);
  int64_t rank() const { return processes_ ? processes_->rank() : 0; }
  int64_t world_size() const { return processes_ ? processes_->size() : 1; }
  std::string own_state() const;
  /// Returns the tensors that are equal in all processes: parameters and, unless train.state is "separate", buffers.
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
  std::unique_ptr<DeviceStep> device_step_;  // null if the steps are TrainingSteps
  std::vector<std::string> step_notes_;
  std::optional<StepPosition> unread_;        // position of the last step if its numbers are not read yet
  std::unique_ptr<TrainingBatches> batches_;  // null between epochs
};

}  // namespace cachet::train
