#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cachet/tasks/recipe.h"

namespace cachet::tasks {

/// The memory that a process takes for a run, in bytes, above that before its model is built. The data themselves are
/// not in it.
struct MemoryEstimate {
  int64_t samples = 0;      // in a micro-batch
  int64_t parameters = 0;   // with the states of norms and caches
  int64_t gradients = 0;    // of the parameters
  int64_t optimizer = 0;    // moments, and averages of the weights
  int64_t states = 0;       // copies of the model's states for the parts of a step (train.state)
  int64_t activations = 0;  // the most that a micro-batch's samples, layers and operators hold at a time
  int64_t checkpoint = 0;   // files that are written, as far as they need more than a step does
  int64_t batches = 0;      // that the loader holds ahead
  int64_t rest = 0;         // code and buffers of libraries, and what the allocator holds

  int64_t total() const {
    return parameters + gradients + optimizer + states + activations + checkpoint + batches + rest;
  }
};

/// How much time a measurement takes.
enum class MemoryTrial {
  quick,   // a step of one sample, if the run then surely fits
  precise  // steps of more and more samples, for the slope
};

/// The memory of a step for any size of a micro-batch: measured for one sample and for more, and a line from the last.
class StepMemoryCurve {
 public:
  /// Trains steps of a few synthetic samples of the largest size that the recipe allows, in the recipe's precision and
  /// with its threads, and measures what they take. The sizes that are measured take less than half of `free` bytes;
  /// nothing is returned if one sample takes more. Throws what training would throw.
  static std::optional<StepMemoryCurve> measure(const RecipePlan& plan, int64_t free, MemoryTrial trial);

  MemoryEstimate at(int64_t samples) const;
  /// The most samples that fit into `bytes`, 0 if one does not.
  int64_t most_samples(int64_t bytes) const;

 private:
  struct Step {
    int64_t samples = 0, live = 0, resident = 0;  // bytes at most: of tensors, of the process
    int64_t checkpoint = 0;                       // resident bytes that a checkpoint after the step adds to these
  };
  MemoryEstimate fixed_;  // without activations and batches
  int64_t batch_bytes_ = 0, batches_ahead_ = 0;
  Step first_, last_;
  double tensors_of_sample_ = 0, overhead_ = 1;  // bytes; resident bytes for each byte of tensors
};

/// A micro-batch and how many of them a step has.
struct BatchChoice {
  int64_t size = 0;  // the value of TaskPlan::BatchCount::key
  int64_t accumulate = 1;
};

/// The largest micro-batches of at most `most_samples` samples with which a step has exactly as many samples as in the
/// recipe. Nothing if no sample fits.
std::optional<BatchChoice> batches_that_fit(const RecipePlan& plan, int64_t most_samples);

/// Whether training moves states of the model: statistics of norms, stored caches. Another size of micro-batch then
/// trains another model.
bool has_batch_state(const RecipePlan& plan);

/// What is known of a run's memory before it begins.
struct MemoryVerdict {
  MemoryEstimate estimate{};
  int64_t free = 0;  // bytes
  int64_t processes = 1;
  bool fits = true;
  // The most that fit into a micro-batch of all processes, with a tenth of the memory left. Only if the run does not
  // fit or if it was asked for.
  int64_t most_samples = 0;

  /// One line: "about 1.4 GiB of 20.1 GiB that are free: parameters 12 MiB, …".
  std::string text() const;
};

/// What is asked of judge_memory().
struct MemoryQuestion {
  MemoryTrial trial = MemoryTrial::quick;
  int64_t processes = 1;       // of this machine that train together
  bool wants_largest = false;  // most_samples, also of a run that fits
};

/// Estimates the memory of a run on the CPU and compares it with what is free. Nothing for another device, if the
/// system does not report its memory, or if the task cannot make synthetic samples.
std::optional<MemoryVerdict> judge_memory(const RecipePlan& plan, const MemoryQuestion& question);

/// The message about a run that does not fit: the sizes, the largest batch that fits, and the `accumulate` that keeps
/// the gradient of a step. A run that is resumed keeps its batch: the message names none.
std::string refusal_text(const RecipePlan& plan, const MemoryVerdict& verdict, bool resumes = false);

/// "key=value" with which the run takes the largest micro-batches that fit and has as many samples in a step. A model
/// whose states training moves keeps its micro-batches if they fit; otherwise its states move once per step
/// (train.state = "first"). Throws std::runtime_error if not even one sample fits.
std::vector<std::string> settings_that_fit(const RecipePlan& plan, const MemoryVerdict& verdict);

}  // namespace cachet::tasks
