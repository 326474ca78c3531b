#pragma once

#include <cstdint>
#include <functional>

#include "cachet/train/options.h"
#include "cachet/train/task.h"

namespace cachet::train {

/// Passes micro-batches of training through a task's model, from the first of the first epoch on, so that what it keeps
/// of its data (running statistics of norms, caches) is made by its weights as they are, which stay. A mean of weights
/// has never met the data: stochastic weight averaging asks for this behind it (Izmailov et al., arXiv 1803.05407,
/// Sec. 3.2). Forward passes are those of training, dropout included, in `precision` and without gradients; draw them
/// from a seed by prepare_process(). `passed` is told how many there were, behind each. The model is left in evaluation
/// mode. Throws std::runtime_error where a model keeps nothing of its data or an epoch has no batch, and NotFinite
/// naming a state that is not.
void renew_states(Task& task, Precision precision, int64_t micro_batches,
                  const std::function<void(int64_t)>& passed = {});

}  // namespace cachet::train
