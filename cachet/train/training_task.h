#pragma once

#include <torch/nn/module.h>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cachet/data/data_digest.h"
#include "cachet/io/tensors/tensor_map.h"
#include "cachet/report/content.h"
#include "cachet/train/runs/run_description.h"
#include "cachet/train/step/metrics.h"

namespace cachet::train {

struct Event;

/// A metric of one micro-batch. The trainer sums it to total / count.
struct StepMetric {
  std::string name;  // "top1"
  at::Tensor total;  // right answers: a scalar of any type and device, read with all others at the step's end
  double count = 0;  // answers
};

/// The result of a forward pass on one micro-batch. The gradient of a step is that of Σ loss / Σ weight + penalty, so
/// that it does not depend on the division of the samples into micro-batches.
struct ForwardResult {
  at::Tensor loss;      // scalar with its gradient: the sum of the losses over the micro-batch
  double weight = 0;    // divisor of that sum: number of samples, tokens, objects; 0 if there are no targets
  at::Tensor penalty;   // scalar with its gradient: a term that depends only on the model; undefined = none
  int64_t samples = 0;  // images, sequences: the unit of "samples/s"
  int64_t tokens = 0;   // in these samples, without padding; 0 if samples have no tokens
  std::vector<StepMetric> metrics;  // except loss and penalty, which the trainer itself sums
};
using StepResult [[deprecated("use ForwardResult")]] = ForwardResult;

/// Sums numbers over all processes of a run, in place. Each process calls this with the same number of numbers. In a
/// run of one process the numbers do not change.
using SumOverProcesses = std::function<void(std::vector<double>& numbers)>;

/// The micro-batches of one epoch, from the requested first one to the last.
class TrainingBatches {
 public:
  virtual ~TrainingBatches() = default;

  /// The divisor of a loss may differ from the weight: a sum over the whole step (all micro-batches in all processes)
  /// that can be counted before the forward passes. Batches with such a loss override fetch_step() and count_step().
  /// The trainer calls both before the first fetch() of each step.
  ///
  /// Waits for all micro-batches of the step; fetch() then returns them one by one. False if there are fewer. The
  /// trainer counts this time as waiting for data.
  virtual bool fetch_step(int64_t /*micro_batches*/) { return true; }
  /// Counts the divisor in the micro-batches of the step, and sums the counts over all processes by `sum`.
  virtual void count_step(const SumOverProcesses& /*sum*/) {}

  /// Waits for the next micro-batch; false after the last. The trainer counts this time as waiting for data.
  virtual bool fetch() = 0;

  /// Whether the fetched micro-batch has samples. If parts have states of their own (train.state), the model is not
  /// trained on a part without samples: the trainer then calls forward() in evaluation mode and without gradients, and
  /// uses only the weight and the names of the metrics from the result.
  virtual bool has_samples() const { return true; }

  /// Prepares the fetched micro-batch for forward(): draws, mixes, counts and uploads. The trainer calls this after
  /// fetch() and before forward().
  virtual void prepare() {}

  /// Runs the model on the prepared micro-batch. The trainer sets autocast and training mode. On a GPU, a step can be
  /// captured if forward() reads no value on the host and uploads nothing.
  virtual ForwardResult forward() = 0;

  /// Returns state between batches other than weights, such as a language model's memory. Checkpoints store it, and
  /// restore() passes it to the batches that continue from there, before the first fetch. If parts have states of their
  /// own, each part `part` of this process has one, counted from 0; otherwise there is only part 0.
  virtual io::TensorMap state(int64_t /*part*/) const { return {}; }
  /// Enlarges the state to its size after `micro_batches` of an epoch, with synthetic values, before the first fetch. A
  /// measurement of a step in the middle of an epoch then needs no training up to there.
  virtual void fill_state(int64_t /*micro_batches*/) {}
  virtual void restore(int64_t /*part*/, const io::TensorMap& /*state*/) {}
};

/// The reason why a run ended.
enum class StopReason {
  finished,     // all epochs, or the limit
  early_stop,   // no better objective for `patience` evaluations
  out_of_time,  // max_hours
  interrupted,  // SIGINT, SIGTERM
  not_finite,   // NaN or infinity in loss, gradient or weights
  failed,       // any other error
  killed,       // its process died without a message; only current_status() returns this, no file has it
};
const char* to_string(StopReason ending);  // "finished", "stopped early", …

/// The progress of a run when its report is written.
struct Status {
  bool running = true;
  StopReason ending = StopReason::finished;  // if running is false
  std::string message;                       // of the ending: the value that was not finite, the failure
  int64_t step = 0, total_steps = 0;
  int64_t epoch = 0, epochs = 0;
};

/// The length of a run.
struct RunLength {
  int64_t steps = 0;
  int64_t updates = 0;  // of a model state that changes with each training pass (train.state)
};

/// Called with the progress of the evaluation after each part of it, such as a batch. It may throw to end the
/// evaluation (Ctrl-C): do not catch the exception.
using EvaluationProgress = std::function<void(int64_t done, int64_t total)>;

/// The object of the trainer: a model, its data, its loss and its metrics. This interface does not depend on the data.
///
/// All random draws in forward() and evaluate() come from (seed, epoch, batch) or from torch's generators, which the
/// trainer saves. A resumed run then equals the uninterrupted run, bit by bit.
class TrainingTask {
 public:
  virtual ~TrainingTask() = default;

  virtual torch::nn::Module& model() = 0;
  /// Returns the description for the run's folder: words, model, and the metrics of steps and evaluations. One of them
  /// chooses the best checkpoint. Called once, when a run begins or is resumed.
  virtual RunDescription describe() = 0;

  /// Returns the parameters that are excluded from weight decay, in addition to those of at most one dimension:
  /// patterns (config::glob_matches) of single components of their dotted names, "cls_token", "pos_embed*".
  virtual std::vector<std::string> without_decay() const { return {}; }

  /// Returns the modules of the model's heads. The optimizer's backbone_rate applies to all others.
  virtual std::vector<std::string> head_modules() const { return {}; }

  virtual int64_t batches_per_epoch() const = 0;  // micro-batches

  /// Returns the micro-batches of an epoch from `first_batch` on, the same as after reading the earlier ones.
  virtual std::unique_ptr<TrainingBatches> training_batches(int64_t epoch, int64_t first_batch) = 0;

  /// Sets whether the next passes are those of a training step whose statistics the task may log. True during the
  /// forward and backward pass of a micro-batch, unless parts have states of their own (train.state) and the
  /// micro-batch is not part 0. False between steps, when the average of weights may renew its states.
  virtual void record_passes(bool /*recorded*/) {}

  /// Returns the number of samples of evaluate().
  virtual int64_t evaluation_size() const = 0;
  /// Returns metrics over the evaluation data, including the deciding one. The trainer has set evaluation mode and
  /// switched gradients off; the weights are the averaged ones if there are any.
  virtual Metrics evaluate(const EvaluationProgress& progress) = 0;
  /// Sets the file for records of the samples of later evaluations. If an evaluation is interrupted, even by the end of
  /// the process, the next evaluation of the same weights continues it. The trainer removes the file after a complete
  /// evaluation.
  virtual void keep_evaluations_in(const std::filesystem::path& /*file*/) {}
  /// Returns other results of the last evaluation, as JSON in the task's own format. The trainer stores it in the run's
  /// folder and passes it to a resumed run. Empty if there are none.
  virtual std::string evaluation_details() const { return {}; }
  virtual void restore_evaluation(const std::string& /*details*/) {}

  /// Returns the digests of the open splits of the data, by name ("training", "evaluation"). A run whose data differ
  /// from its original data cannot be resumed. Reads no image files.
  virtual std::map<std::string, data::DataDigest> data_digests() const { return {}; }
  /// Returns the digests of version 0.1.0, which identify the data of a run of that version.
  virtual std::map<std::string, std::string> data_fingerprints() const { return {}; }

  /// Returns lines for the log of a run on the training data and the rules applied to them. The user has already seen
  /// the lines of a new task; lines that come during training are printed after evaluations and at the end.
  virtual std::vector<std::string> data_notes() const { return {}; }

  /// Sets the values of the model that depend on the length of the run. Called when the run begins or is resumed,
  /// before its first step.
  virtual void settle(const RunLength& /*length*/) {}

  /// Returns notes for the user before a run of this length, such as that a norm does not leave its warm-up.
  virtual std::vector<std::string> notes_on_run(const RunLength& /*length*/) { return {}; }

  /// Returns further values for curves. Called with every step line and every evaluation.
  virtual std::vector<Series> observe() { return {}; }

  /// Returns sections of a run's page, in addition to those of every run. The page is rewritten after each evaluation,
  /// at every kind of ending, and sometimes between evaluations.
  virtual std::vector<report::Section> report_sections(const std::vector<Event>& /*events*/, const Status& /*status*/) {
    return {};
  }
};

using Task [[deprecated("TrainingTask")]] = TrainingTask;

using TrainingStream [[deprecated("TrainingBatches")]] = TrainingBatches;

using Ending [[deprecated("StopReason")]] = StopReason;

}  // namespace cachet::train
