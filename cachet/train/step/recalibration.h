#pragma once

#include <torch/nn/module.h>

#include <cstdint>
#include <functional>

#include "cachet/train/options.h"
#include "cachet/train/training_task.h"

namespace cachet::train {

/// Whether a model stores values from the data that pass through it in training (ops::Recalibrated).
bool has_states(const torch::nn::Module& model);

/// Passes micro-batches of training through a task's model, from the first of the first epoch on. The model's
/// states from data (running statistics of norms, caches) then depend only on its present weights and these
/// batches: statistics are means over the batches, caches begin empty. The weights do not change. A mean of
/// weights has never seen the data, so stochastic weight averaging needs this step afterwards (Izmailov et al.,
/// arXiv 1803.05407, Sec. 3.2). Forward passes are those of training, dropout included, in `precision` and
/// without gradients; to seed them, call prepare_process() before. `passed` gets the number of micro-batches
/// after each. Leaves the model in evaluation mode. Throws std::runtime_error if an epoch has no batch, and
/// NotFinite that names a state that is not finite. If parts have states of their own (train.state), the process
/// of part 0 calls this function. Of the task's micro-batches every `own_parts`-th is part 0's; only these are
/// passed and counted.
void pass_for_states(TrainingTask& task, Precision precision, int64_t micro_batches,
                     const std::function<void(int64_t)>& passed = {}, int64_t own_parts = 1);

/// Does the same; also throws std::runtime_error if the model stores no values from its data.
void recalibrate(TrainingTask& task, Precision precision, int64_t micro_batches,
                 const std::function<void(int64_t)>& passed = {}, int64_t own_parts = 1);

}  // namespace cachet::train
