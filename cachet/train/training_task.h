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

/// A metric of one micro-batch, which the trainer sums up to total / count.
struct StepMetric {
  std::string name;  // "top1"
  at::Tensor total;  // right answers: a scalar of any type on any device, read with all others at the step's end
  double count = 0;  // answers
};

/// What a forward pass over one micro-batch gives. The gradient of a step is that of Σ loss / Σ weight + penalty, so it
/// does not depend on how the samples are cut into micro-batches.
struct ForwardResult {
  at::Tensor loss;      // scalar with its gradient: the sum of the losses over the micro-batch
  double weight = 0;    // what that sum is to be divided by: samples, tokens, objects; 0 where nothing has a target
  at::Tensor penalty;   // scalar with its gradient: a term of the model and not of the data; undefined = none
  int64_t samples = 0;  // images, sequences: what "samples/s" counts
  int64_t tokens = 0;   // in these samples, padding not counted; 0 where they have none
  std::vector<StepMetric> metrics;  // except loss and penalty, which the trainer sums up itself
};
using StepResult [[deprecated("use ForwardResult")]] = ForwardResult;

/// Adds up numbers over all processes of a run, in place. Each process calls it with the same number of numbers. In a
/// run of one process the numbers do not change.
using SumOverProcesses = std::function<void(std::vector<double>& numbers)>;

/// The micro-batches of one epoch, from the one it was opened at to the last.
class TrainingBatches {
 public:
  virtual ~TrainingBatches() = default;

  /// A loss may have a divisor that is not the weight: a sum over the whole step (all micro-batches in all processes)
  /// that can be counted before the forward passes. Batches with such a loss override fetch_step() and count_step().
  /// The trainer calls both before the first fetch() of each step.
  ///
  /// Waits for all micro-batches of the step; fetch() then gives them one by one. False if there are fewer. The trainer
  /// counts this time as waiting for data.
  virtual bool fetch_step(int64_t /*micro_batches*/) { return true; }
  /// Counts in the micro-batches of the step, and adds up the counts over all processes by `sum`.
  virtual void count_step(const SumOverProcesses& /*sum*/) {}

  /// Waits for the next micro-batch; false after the last. The trainer counts this time as waiting for data.
  virtual bool fetch() = 0;

  /// Whether the fetched micro-batch has samples. If parts have states of their own (train.state), the model is not
  /// trained on a part without samples: the trainer then asks for forward() in evaluation mode and without gradients,
  /// and takes the weight and the names of the metrics from the result.
  virtual bool has_samples() const { return true; }

  /// Makes the fetched micro-batch ready for forward(): draws, mixes, counts and uploads. The trainer calls it after
  /// fetch(), before forward().
  virtual void prepare() {}

  /// Runs the model over the prepared micro-batch. The trainer sets autocast and training mode. On a GPU, a step can be
  /// captured if forward() reads no value on the host and uploads nothing.
  virtual ForwardResult forward() = 0;

  /// State between batches other than weights, such as a language model's memory. It is saved in checkpoints and given
  /// back, before the first fetch, to the batches that continue from there. If parts have states of their own, each
  /// part `part` of this process has one, from 0 on; otherwise there is only part 0.
  virtual io::TensorMap state(int64_t /*part*/) const { return {}; }
  /// Makes it as large as after `micro_batches` of an epoch, with synthetic values, before the first fetch. A
  /// measurement of a step in the middle of an epoch then does not have to train up to there.
  virtual void fill_state(int64_t /*micro_batches*/) {}
  virtual void restore(int64_t /*part*/, const io::TensorMap& /*state*/) {}
};

/// How a run came to its end.
enum class StopReason {
  finished,     // all epochs, or the limit
  early_stop,   // no better objective for `patience` evaluations
  out_of_time,  // max_hours
  interrupted,  // SIGINT, SIGTERM
  not_finite,   // NaN or infinity in loss, gradient or weights
  failed,       // any other error
  killed,       // its process went without a word; nobody writes this, current_status() finds it out
};
const char* to_string(StopReason ending);  // "finished", "stopped early", …

/// The progress of a run when its report is rewritten.
struct Status {
  bool running = true;
  StopReason ending = StopReason::finished;  // where running is false
  std::string message;                       // of the ending: what was not finite, what failed
  int64_t step = 0, total_steps = 0;
  int64_t epoch = 0, epochs = 0;
};

/// The length of a run.
struct RunLength {
  int64_t steps = 0;
  int64_t updates = 0;  // of a state of the model that moves with each training pass (train.state)
};

/// Called with the progress of the evaluation after each piece of it, such as a batch. It may throw to end the
/// evaluation (Ctrl-C): do not catch the exception.
using EvaluationProgress = std::function<void(int64_t done, int64_t total)>;

/// A model, its data, its loss and its metrics: what the trainer trains. Nothing here knows what the data are.
///
/// All that forward() and evaluate() draw at random comes from (seed, epoch, batch) or from torch's generators, which
/// the trainer saves; then a resumed run is the uninterrupted one, bit by bit.
class TrainingTask {
 public:
  virtual ~TrainingTask() = default;

  virtual torch::nn::Module& model() = 0;
  /// The description in the run's folder: words, model, and the metrics of steps and evaluations, one of which decides
  /// the best checkpoint. Called once, when a run begins or is resumed.
  virtual RunDescription describe() = 0;

  /// Parameters that are excluded from weight decay, in addition to those of at most one dimension: patterns
  /// (config::glob_matches) of single components of their dotted names, "cls_token", "pos_embed*".
  virtual std::vector<std::string> without_decay() const { return {}; }

  /// Modules that answer the task, below the model: the optimizer's backbone_rate is for all others.
  virtual std::vector<std::string> head_modules() const { return {}; }

  virtual int64_t batches_per_epoch() const = 0;  // micro-batches

  /// Micro-batches of an epoch from `first_batch` on; the same as if those before it had been read.
  virtual std::unique_ptr<TrainingBatches> training_batches(int64_t epoch, int64_t first_batch) = 0;

  /// Whether the passes that follow are those of a training step whose statistics the task may log: true during the
  /// forward and backward pass of a micro-batch, unless parts have states of their own (train.state) and the
  /// micro-batch is not part 0. False between steps, in which the average of weights may renew its states.
  virtual void record_passes(bool /*recorded*/) {}

  /// How many samples evaluate() looks at.
  virtual int64_t evaluation_size() const = 0;
  /// Metrics over the evaluation data, the one that decides among them. The trainer has set evaluation mode and
  /// switched gradients off; the weights are the averaged ones where there are any.
  virtual Metrics evaluate(const EvaluationProgress& progress) = 0;
  /// A file for records of the samples of evaluations from now on. If an evaluation is interrupted, whatever ends the
  /// process, the next evaluation of the same weights continues it. The trainer removes the file after a complete
  /// evaluation.
  virtual void keep_evaluations_in(const std::filesystem::path& /*file*/) {}
  /// Other results of the last evaluation, as JSON of the task's own. The trainer stores it in the run's folder and
  /// gives it back to a resumed run. Empty if there are none.
  virtual std::string evaluation_details() const { return {}; }
  virtual void restore_evaluation(const std::string& /*details*/) {}

  /// Digests of the data by the names of their splits ("training", "evaluation"), of those that are open. A run whose
  /// data are not those that it began with cannot be resumed. Reads no image files.
  virtual std::map<std::string, data::DataDigest> data_digests() const { return {}; }
  /// The same as version 0.1.0 made them, by which a run of that version knows its data.
  virtual std::map<std::string, std::string> data_fingerprints() const { return {}; }

  /// What there is to train with, and what was done to it by rule: lines for the log of a run. The user has seen those
  /// of a task that was just made; lines that come while it trains are printed after evaluations and at the end.
  virtual std::vector<std::string> data_notes() const { return {}; }

  /// Called when the run begins or is resumed, before its first step: what of the model depends on the length of the
  /// run is settled.
  virtual void settle(const RunLength& /*length*/) {}

  /// What a user should know before a run of this length begins: lines such as that a norm does not leave its warm-up.
  virtual std::vector<std::string> notes_on_run(const RunLength& /*length*/) { return {}; }

  /// What else is worth a curve, asked for with every step line and every evaluation.
  virtual std::vector<Series> observe() { return {}; }

  /// Sections of a run's page, in addition to those of every run. The page is rewritten after each evaluation, at
  /// every kind of ending, and now and then between evaluations.
  virtual std::vector<report::Section> report_sections(const std::vector<Event>& /*events*/, const Status& /*status*/) {
    return {};
  }
};

using Task [[deprecated("TrainingTask")]] = TrainingTask;

using TrainingStream [[deprecated("TrainingBatches")]] = TrainingBatches;

using Ending [[deprecated("StopReason")]] = StopReason;

}  // namespace cachet::train
