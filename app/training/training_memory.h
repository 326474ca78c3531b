#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/training/training_recipe.h"
#include "cachet/tasks/memory_estimate.h"

namespace cachet::app {

/// The verdict on a run's memory; empty if the memory cannot be estimated.
using KnownMemory = std::optional<tasks::MemoryVerdict>;

/// Estimates the memory of a run. Throws std::runtime_error if the limit in the environment is not a number.
KnownMemory memory_of_run(const tasks::RecipePlan& plan, const tasks::MemoryQuestion& question);

/// Throws std::runtime_error if the weights and the caches alone do not fit into the free memory. Their shapes are
/// known without a step.
void require_memory_of_model(const tasks::RecipePlan& plan, bool resumes);

/// Checks a run before it takes memory. Throws std::runtime_error with the largest batch that fits if the run does not
/// fit into the free memory. `processes` is the number of processes of this machine that train together. Does nothing
/// if the memory cannot be estimated, and if the data are absent, which the run reports itself.
void require_memory_of_run(const tasks::RecipePlan& plan, bool resumes, int64_t processes);

/// The settings of --batch-size auto: the largest micro-batches that fit, with train.accumulate (and train.state). A
/// resumed run has its own settings. Throws std::runtime_error if no batch fits or the memory cannot be estimated.
std::vector<std::string> fitting_batch_settings(const TrainingJob& job, const TrainArguments& arguments);

}  // namespace cachet::app
