#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cachet/tasks/recipe.h"

namespace cachet::tasks {

/// The memory that a process takes for a run, in bytes, in addition to its memory before the model is built. The
/// estimate does not include the memory of the data set itself.
struct MemoryEstimate {
  int64_t samples = 0;      // number of samples in a micro-batch
  int64_t parameters = 0;   // parameters, with the states of norms and caches
  int64_t gradients = 0;    // gradients of the parameters
  int64_t optimizer = 0;    // moments, and averages of the weights
  int64_t states = 0;       // copies of the model's states for the parts of a step (train.state)
  int64_t activations = 0;  // largest memory at one time of a micro-batch's samples, layers and operators
  int64_t checkpoint = 0;   // memory for writing files, in addition to a step's memory
  int64_t batches = 0;      // batches that the loader prepares ahead
  int64_t rest = 0;         // code and buffers of libraries, and free memory of the allocator

  int64_t total() const {
    return parameters + gradients + optimizer + states + activations + checkpoint + batches + rest;
  }
};

/// The duration of a measurement.
enum class MemoryTrial {
  quick,   // a step of one sample, if it proves that the run fits
  precise  // steps with increasing numbers of samples, to measure the slope
};

/// The memory of a step as a function of the micro-batch's size: measured for small sizes, extrapolated linearly.
class StepMemoryCurve {
 public:
  /// Trains on a few synthetic samples of the largest size that the recipe allows, and measures the memory of the
  /// steps. The training steps use the precision and the number of threads of the recipe. The training steps cannot
  /// take more than `free` bytes. If a step with one sample takes more than `free` bytes, returns an empty value.
  /// Throws the errors of training.
  static std::optional<StepMemoryCurve> measure(const RecipePlan& plan, int64_t free, MemoryTrial trial);

  MemoryEstimate at(int64_t samples) const;
  /// Returns the largest number of samples that fit into `bytes`; 0 if not even one fits.
  int64_t most_samples(int64_t bytes) const;

 private:
  struct Step {
    int64_t samples = 0, live = 0, resident = 0;  // largest bytes of tensors (live) and of the process (resident)
    int64_t checkpoint = 0;                       // further resident bytes of a checkpoint after the step
  };
  MemoryEstimate fixed_;  // estimate without activations and batches
  int64_t batch_bytes_ = 0, batches_ahead_ = 0;
  Step first_, last_;
  double tensors_of_sample_ = 0, overhead_ = 1;  // bytes per sample; resident bytes per byte of tensors
};

/// The size of a micro-batch, and the number of micro-batches in a step.
struct BatchChoice {
  int64_t size = 0;  // the value of TaskPlan::BatchCount::key
  int64_t accumulate = 1;
  int64_t most_samples = 0;  // data.max_samples, if it limits the batches in addition to this key; 0: not set
};

/// Returns the largest micro-batches of at most `most_samples` samples with which each step has as many samples as in
/// the recipe (with train.state = "first", the same samples). Returns std::nullopt if no sample fits.
std::optional<BatchChoice> batches_that_fit(const RecipePlan& plan, int64_t most_samples);

/// Returns settings "key=value" for the choice. If `keeps_states` is true and a step has several micro-batches, the
/// settings have train.state = "first", with which the states of the model (norms, caches) are updated once per step.
std::vector<std::string> batch_settings(const RecipePlan& plan, const BatchChoice& choice, bool keeps_states = true);

/// Whether training changes states of the model, such as statistics of norms or stored caches. If training changes
/// states of the model, the size of a micro-batch affects the trained model.
bool has_batch_state(const RecipePlan& plan);

/// The facts about a run's memory that are known before the run begins.
struct MemoryVerdict {
  MemoryEstimate estimate{};
  int64_t free = 0;  // bytes
  int64_t processes = 1;
  bool fits = true;
  // The largest number of samples in a micro-batch (over all processes) that leaves a tenth of the free memory unused.
  // `most_samples` is set only if the run does not fit, or if MemoryQuestion::wants_largest is set.
  int64_t most_samples = 0;

  /// Returns one line: "about 1.4 GiB of 20.1 GiB that are free: parameters 12 MiB, …".
  std::string text() const;
};

/// The question that judge_memory() answers.
struct MemoryQuestion {
  MemoryTrial trial = MemoryTrial::quick;
  int64_t processes = 1;       // number of this machine's processes that train together
  bool wants_largest = false;  // whether to compute most_samples also for a run that fits
};

/// Estimates the memory of a run on the CPU and compares it with the free memory. Returns an empty value if the run
/// uses another device, if the system does not report its memory, or if the task cannot make synthetic samples.
std::optional<MemoryVerdict> judge_memory(const RecipePlan& plan, const MemoryQuestion& question);

/// Returns the message about a run that does not fit: the sizes, the largest batch that fits, and the `accumulate` that
/// leaves a step's gradient the same. A resumed run cannot change its batch size, so its message proposes no batch
/// size.
std::string refusal_text(const RecipePlan& plan, const MemoryVerdict& verdict, bool resumes = false);

/// Returns settings "key=value" for the largest micro-batches that fit into the memory, so that each step has the same
/// samples as with the recipe's own batch size (if necessary, with train.state = "first"). The settings do not change
/// the gradients of a model without states (statistics of norms, caches). States are updated once per step. Returns no
/// settings if the recipe's batch fits into the memory. Throws std::runtime_error if not even one sample fits.
std::vector<std::string> settings_that_fit(const RecipePlan& plan, const MemoryVerdict& verdict);

}  // namespace cachet::tasks
