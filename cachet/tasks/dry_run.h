#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cachet/tasks/recipe.h"
#include "cachet/train/options.h"
#include "cachet/train/training_task.h"

namespace cachet::tasks {

/// The estimated cost of a whole run, from a trial of one step, one evaluation and one checkpoint.
struct DryRun {
  double step_seconds = 0;
  int64_t step_samples = 0;
  double evaluation_seconds = 0;  // time of a whole evaluation, estimated from a part
  double checkpoint_seconds = 0;
  uint64_t checkpoint_bytes = 0;
  int64_t memory_bytes = 0;  // resident memory after the step, the evaluation and the checkpoint
  int64_t total_steps = 0, evaluations = 0, checkpoints = 0;
  std::string graphs{};              // how the steps of the run are launched on a CUDA device; empty on a CPU
  std::vector<std::string> notes{};  // the notes on the run's length that a run prints at its beginning

  double total_seconds() const;
};

/// Takes two optimizer steps; the first is a warm-up. State between micro-batches (such as Transformer-XL's memory) is
/// as large as in the middle of an epoch. After the steps, evaluates the model either for a few seconds or completely,
/// and writes a checkpoint to a temporary folder. Changes the task's model. `processes` is the number of processes of
/// the whole run, for DryRun::graphs; the dry run itself has one process. Throws the errors of training.
DryRun dry_run(train::TrainingTask& task, const train::Options& options, int64_t processes = 1);

/// Returns the recipe, reduced for a few synthetic samples: a batch of at most 4, no accumulation, no workers. The
/// reduced recipe has the same model as the original one, and processes samples in the same way.
RecipePlan reduced(const RecipePlan& plan);

}  // namespace cachet::tasks
