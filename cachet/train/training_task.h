#pragma once

#include <torch/nn/module.h>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cachet/data/data_digest.h"
#include "cachet/io/tensors/tensor_map.h"
#include "cachet/report/content.h"
#include "cachet/train/runs/run_description.h"
#include "cachet/train/step/metrics.h"

namespace cachet::train {

struct Event;
class StepExecutor;

/// A metric of one micro-batch. The trainer sums totals and counts over micro-batches, and reports total / count.
struct StepMetric {
  std::string name;  // "top1"
  at::Tensor total;  // number of right answers: a scalar of any type and device, read at the step's end
  double count = 0;  // number of answers
};

/// The result of a forward pass on one micro-batch. The gradient of a step is the gradient of Σ loss / Σ weight +
/// penalty, so it does not depend on the division of the samples into micro-batches.
struct ForwardResult {
  at::Tensor loss;      // scalar with its gradient: the sum of the losses over the micro-batch
  double weight = 0;    // divisor of that sum: number of samples, tokens, objects; 0 if there are no targets
  at::Tensor penalty;   // scalar with its gradient: a term that depends only on the model; undefined = none
  int64_t samples = 0;  // number of images or sequences: the unit of "samples/s"
  int64_t tokens = 0;   // number of tokens in these samples, without padding; 0 if samples have no tokens
  std::vector<StepMetric> metrics;  // metrics except loss and penalty, which the trainer itself sums
};
using StepResult [[deprecated("use ForwardResult")]] = ForwardResult;

/// A prepared micro-batch, described without its forward pass. A step whose device work is replayed (StepExecutor) does
/// not call forward(), so it takes the numbers of ForwardResult from here.
struct PreparedBatch {
  /// The tensors that forward() reads, except the tensors of the model. The caller may replace each tensor by an equal
  /// tensor at another address. Undefined tensors stay undefined. If forward() stores other tensors here for the next
  /// micro-batch, such as the memory of a language model, the caller passes them on.
  std::vector<at::Tensor*> tensors;
  double weight = 0;                  // ForwardResult::weight
  int64_t samples = 0;                // ForwardResult::samples
  int64_t tokens = 0;                 // ForwardResult::tokens
  std::vector<double> metric_counts;  // StepMetric::count of each metric of ForwardResult
};

/// Function that sums numbers over all processes of a run, in place. In all processes, `numbers` must have the same
/// length. In a run of one process, the function does not change `numbers`.
using SumOverProcesses = std::function<void(std::vector<double>& numbers)>;

/// The micro-batches of one epoch, from the requested first micro-batch to the last micro-batch.
class TrainingBatches {
 public:
  virtual ~TrainingBatches() = default;

  /// If a loss is divided by a sum over the whole step (all micro-batches in all processes) instead of by
  /// ForwardResult::weight, the task's TrainingBatches must override fetch_step() and count_step(). The trainer calls
  /// these two functions before the first fetch() of each step, so that the sum is known before the forward passes.
  ///
  /// Waits for all micro-batches of the step, which fetch() then returns one by one. Returns false if the step has
  /// fewer than `micro_batches` micro-batches. The time in fetch_step() counts as waiting for data.
  virtual bool fetch_step(int64_t /*micro_batches*/) { return true; }
  /// Counts the divisor of the loss over the micro-batches of the step, and sums it over all processes with `sum`.
  virtual void count_step(const SumOverProcesses& /*sum*/) {}

  /// Waits for the next micro-batch. Returns false after the last micro-batch. The trainer counts the time in fetch()
  /// as waiting for data.
  virtual bool fetch() = 0;

  /// Whether the fetched micro-batch has samples. If the parts of a step have their own states (train.state), the model
  /// is not trained on a part without samples. For a part without samples, the trainer calls forward() in evaluation
  /// mode and without gradients, and uses only ForwardResult::weight and the names of the metrics.
  virtual bool has_samples() const { return true; }

  /// Prepares the fetched micro-batch for forward(): draws random numbers, mixes samples (such as mixup), counts
  /// targets and copies tensors to the device. The trainer calls prepare() after fetch() and before forward().
  virtual void prepare() {}

  /// Describes the prepared micro-batch, or returns std::nullopt if forward() must run for each micro-batch. A task
  /// that returns a description promises: if the shapes of the tensors are equal, forward() makes the same calls, reads
  /// no value on the host and uploads nothing.
  virtual std::optional<PreparedBatch> prepared() { return std::nullopt; }

  /// Runs the model on the prepared micro-batch. The trainer sets autocast and training mode.
  virtual ForwardResult forward() = 0;

  /// Returns the state (not weights) between batches, such as a language model's memory. Checkpoints store this state.
  /// When a run resumes, the trainer passes the saved state to restore() before the first fetch. If the parts of a step
  /// have their own states, `part` is an index of this process's parts, from 0; otherwise there is only part 0.
  virtual io::TensorMap state(int64_t /*part*/) const { return {}; }
  /// Fills the state between batches with synthetic values, at the size that it has after `micro_batches` micro-batches
  /// of an epoch. After fill_state(), a step in the middle of an epoch can be measured without the steps before it.
  /// fill_state() is called before the first fetch().
  virtual void fill_state(int64_t /*micro_batches*/) {}
  virtual void restore(int64_t /*part*/, const io::TensorMap& /*state*/) {}
};

/// The reason why a run ended.
enum class StopReason {
  finished,     // all epochs are done, or the limit is reached
  early_stop,   // the objective has not improved for `patience` evaluations
  out_of_time,  // max_hours is reached
  interrupted,  // the process received a signal of Interruption::kSignals
  not_finite,   // the loss, a gradient or a weight is NaN or infinite
  failed,       // the run ended by any other error
  killed,       // the process died without a message; only current_status() returns this value, no file has it
};
const char* to_string(StopReason ending);  // "finished", "stopped early", …

/// The progress of a run when its report is written.
struct Status {
  bool running = true;
  StopReason ending = StopReason::finished;  // valid if `running` is false
  std::string message;                       // reason of the ending: the value that was not finite, or the failure
  int64_t step = 0, total_steps = 0;
  int64_t epoch = 0, epochs = 0;
};

/// The length of a run.
struct RunLength {
  int64_t steps = 0;
  int64_t updates = 0;  // number of updates of a model state that changes in each training pass (train.state)
};

/// Function that receives the progress of an evaluation after each part of it, such as a batch. The function may throw
/// to end the evaluation (Ctrl-C); the exception must not be caught.
using EvaluationProgress = std::function<void(int64_t done, int64_t total)>;

/// The interface of a training task: a model, its data, its loss and its metrics. The interface does not depend on the
/// kind of data.
///
/// All random numbers in forward() and evaluate() come from (seed, epoch, batch) or from torch's generators, which the
/// trainer saves, so that a resumed run equals the uninterrupted run, bit by bit.
class TrainingTask {
 public:
  virtual ~TrainingTask() = default;

  virtual torch::nn::Module& model() = 0;
  /// Returns the description of the run: words for samples, model, and metrics of steps and of evaluations. One of the
  /// metrics chooses the best checkpoint. The trainer calls describe() once, when a run begins or is resumed.
  virtual RunDescription describe() = 0;

  /// Returns patterns (config::glob_matches) of parameters without weight decay, such as "cls_token" or "pos_embed*". A
  /// pattern matches single components of a dotted name. Parameters of at most one dimension never have weight decay.
  virtual std::vector<std::string> without_decay() const { return {}; }

  /// Returns the modules of the model's heads. The optimizer's backbone_rate applies to all modules outside the heads.
  virtual std::vector<std::string> head_modules() const { return {}; }

  virtual int64_t batches_per_epoch() const = 0;  // number of micro-batches

  /// Returns an epoch's micro-batches from `first_batch` on. The micro-batches are the same as if all earlier
  /// micro-batches of the epoch had been read.
  virtual std::unique_ptr<TrainingBatches> training_batches(int64_t epoch, int64_t first_batch) = 0;

  /// Returns the reason why the passes of this task cannot be recorded and replayed with other values, or std::nullopt
  /// if they can. The reason is a clause: "the number of boxes sets the sizes of tensors". A task that returns
  /// std::nullopt also overrides TrainingBatches::prepared().
  virtual std::optional<std::string> why_not_replayed() { return "the task does not describe its micro-batches"; }

  /// Sets whether training micro-batches are padded to few shapes, so that recorded steps are replayed more often. A
  /// task whose shapes vary may override round_shapes(). The padding changes losses and gradients only by rounding.
  virtual void round_shapes(bool /*rounded*/) {}

  /// Sets whether the next passes belong to a training step whose statistics the task may log. During the forward and
  /// backward pass of a micro-batch, `recorded` is true. If the parts of a step have their own states (train.state),
  /// `recorded` is true only for part 0. Between steps, `recorded` is false, because forward passes between steps may
  /// renew the states of the averaged weights.
  virtual void record_passes(bool /*recorded*/) {}

  /// Returns the number of samples that evaluate() evaluates.
  virtual int64_t evaluation_size() const = 0;
  /// Returns the metrics over the evaluation data, including the deciding metric. The trainer has set evaluation mode
  /// and switched gradients off; the weights are the averaged weights if these exist.
  virtual Metrics evaluate(const EvaluationProgress& progress) = 0;

  /// Returns the reason why the passes of evaluations and predictions cannot be recorded and replayed, as a clause, or
  /// std::nullopt if they can. A task that returns std::nullopt also overrides replay_inference().
  virtual std::optional<std::string> why_inference_not_replayed() { return "the task runs its evaluations itself"; }
  /// Sets the executor of the passes of later evaluations and predictions, which may replay them. If `executor` is
  /// null, the passes run directly. The caller calls replay_inference() only if why_inference_not_replayed() has no
  /// reason.
  virtual void replay_inference(std::shared_ptr<StepExecutor> /*executor*/) {}

  /// Sets the file in which later evaluations record the results of their samples. If an evaluation is interrupted,
  /// even by the end of the process, the next evaluation of the same weights continues it. After a complete evaluation,
  /// the trainer removes the file with the results of samples.
  virtual void keep_evaluations_in(const std::filesystem::path& /*file*/) {}
  /// Returns further results of the last evaluation, as JSON in the task's own format, or an empty text. The trainer
  /// stores the returned text in the run's folder, and passes it to restore_evaluation() of a resumed run.
  virtual std::string evaluation_details() const { return {}; }
  virtual void restore_evaluation(const std::string& /*details*/) {}

  /// Returns the digest of each split of the data that the task opened, by name ("training", "evaluation"). If data
  /// differ from a run's original data, the run cannot be resumed. Reads no image files.
  virtual std::map<std::string, data::DataDigest> data_digests() const { return {}; }
  /// Returns the digests of the splits as version 0.1.0 computed and stored them.
  virtual std::map<std::string, std::string> data_fingerprints() const { return {}; }

  /// Returns lines for the log of a run, about the training data and the rules applied to them. If a line is known when
  /// the task is created, it is printed at that time. If a line is added during training, it is printed after the next
  /// evaluation or at the end of the run.
  virtual std::vector<std::string> data_notes() const { return {}; }

  /// Returns the faults of data that this process has found since the last call, such as images that it skipped. If
  /// several processes train together, rank 0 gets the faults of the other processes with add_data_fault(), so that its
  /// data_notes() have the faults of all processes.
  virtual std::vector<std::string> take_data_faults() { return {}; }
  virtual void add_data_fault(const std::string& /*fault*/) {}

  /// Sets the values of the model that depend on the length of the run. The trainer calls settle() when the run begins
  /// or is resumed, before the first step.
  virtual void settle(const RunLength& /*length*/) {}

  /// Returns notes for the user before a run of the length `length`, for example that a norm does not leave its
  /// warm-up.
  virtual std::vector<std::string> notes_on_run(const RunLength& /*length*/) { return {}; }

  /// Returns further values for curves. The trainer calls observe() for every step line and every evaluation.
  virtual std::vector<Series> observe() { return {}; }

  /// Returns additional sections for the page of a run. The page of a run is rewritten after each evaluation, when the
  /// run ends for any reason, and sometimes between evaluations.
  virtual std::vector<report::Section> report_sections(const std::vector<Event>& /*events*/, const Status& /*status*/) {
    return {};
  }
};

using Task [[deprecated("TrainingTask")]] = TrainingTask;

using TrainingStream [[deprecated("TrainingBatches")]] = TrainingBatches;

using Ending [[deprecated("StopReason")]] = StopReason;

}  // namespace cachet::train
