#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "cachet/tasks/recipe.h"
#include "cachet/train/machine/gpu_problem.h"

namespace cachet::tasks {

/// Returns one line with the settings of the largest batch that fits into the memory of the GPU, after a step of the
/// recipe's batch did not fit. A step has as many samples as before. The memory of smaller batches is estimated on the
/// CPU (StepMemoryCurve), and scaled so that the estimate for the recipe's batch is at least the memory of the GPU.
/// `processes` is the number of processes that train together, each with its own GPU. A resumed run keeps its batch
/// size, so the line names the settings of a new run. Returns std::nullopt if the memory cannot be estimated. Throws
/// the errors of training.
std::optional<std::string> smaller_batch_text(const RecipePlan& plan, const train::GpuMemoryError& error,
                                              int64_t processes, bool resumes);

/// The memory of a step on a GPU as a function of the number of samples in a micro-batch, in bytes.
using GpuBytes = std::function<int64_t(int64_t samples)>;

/// Returns the largest number of samples below `samples` that fits into `usable` bytes with a tenth to spare, if
/// `samples` do not fit; 0 if not even one fits. `bytes` is an increasing estimate, which may be too low: it is scaled
/// so that `samples` need at least `usable` bytes.
int64_t samples_that_fit(int64_t samples, int64_t usable, const GpuBytes& bytes);

}  // namespace cachet::tasks
