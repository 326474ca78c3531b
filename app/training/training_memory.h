#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/training/training_recipe.h"
#include "cachet/tasks/memory_estimate.h"

namespace cachet::app {

/// The estimate of whether a run fits into memory; empty if the memory cannot be estimated.
using KnownMemory = std::optional<tasks::MemoryVerdict>;

/// Estimates the memory of a run. A line announces a precise estimate, which takes some time. Throws std::runtime_error
/// if the limit in the environment is not a number.
KnownMemory memory_of_run(const tasks::RecipePlan& plan, const tasks::MemoryQuestion& question);

/// Throws std::runtime_error if the weights and the caches alone do not fit into the free memory. This check runs no
/// training step.
void require_memory_of_model(const tasks::RecipePlan& plan, bool resumes);

/// Throws std::runtime_error if the run does not fit into the memory, with the largest batch that fits. If the batch
/// has more samples than the data, throws the task's error about this instead.
void require_fit(const tasks::RecipePlan& plan, const KnownMemory& memory, bool resumes);

/// Checks a run before it allocates memory: require_fit(). `processes`: the number of processes on this machine that
/// train together. Does nothing if the memory cannot be estimated, or if the data are absent (the run reports that).
void require_memory_of_run(const tasks::RecipePlan& plan, bool resumes, int64_t processes);

/// Runs `train`, which trains the recipe. If the memory of a GPU is exhausted, throws std::runtime_error with the error
/// and the settings of a batch that fits, which takes some seconds to measure. Passes other exceptions on.
void with_smaller_batch(const tasks::RecipePlan& plan, bool resumes, int64_t processes,
                        const std::function<void()>& train);

/// Returns the settings of --batch-size auto: none if the recipe's batch fits, else the largest micro-batches that fit,
/// with train.accumulate and train.state. A resumed run has its own settings. Throws std::runtime_error if no batch
/// fits or memory is unknown.
std::vector<std::string> fitting_batch_settings(const TrainingJob& job, const TrainArguments& arguments);

}  // namespace cachet::app
