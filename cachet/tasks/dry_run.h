#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cachet/tasks/recipe.h"
#include "cachet/train/options.h"
#include "cachet/train/training_task.h"

namespace cachet::tasks {

/// What a whole run will cost, from trying one of each.
struct DryRun {
  double step_seconds = 0;
  int64_t step_samples = 0;
  double evaluation_seconds = 0;  // of a whole evaluation, from the part that was tried
  double checkpoint_seconds = 0;
  uint64_t checkpoint_bytes = 0;
  int64_t memory_bytes = 0;  // resident, after all of that
  int64_t total_steps = 0, evaluations = 0, checkpoints = 0;
  std::vector<std::string> notes{};  // on the length of the run, as it has them when it begins

  double total_seconds() const;
};

/// Takes two optimizer steps (the first to warm up) as in the middle of an epoch, where memories are full; evaluates
/// for a few seconds or whole, and writes a checkpoint to a temporary folder. The task's model is changed by it. Throws
/// what training would throw.
DryRun dry_run(train::TrainingTask& task, const train::Options& options);

/// The recipe for a few synthetic samples: a batch of at most 4, nothing accumulated, no workers. Its model and all
/// that is done to a sample stay as they are.
RecipePlan reduced(const RecipePlan& plan);

}  // namespace cachet::tasks
