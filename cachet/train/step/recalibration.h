#pragma once

#include <torch/nn/module.h>

#include <cstdint>
#include <functional>

#include "cachet/train/options.h"
#include "cachet/train/training_task.h"

namespace cachet::train {

/// Whether a model keeps something of the data that pass through it in training (ops::Recalibrated).
bool has_states(const torch::nn::Module& model);

/// Passes micro-batches of training through a task's model, from the first of the first epoch on. What the model keeps
/// of its data (running statistics of norms, caches) is then made by its weights as they are and by these batches
/// alone: statistics are means over the batches, caches begin empty. The weights stay. A mean of weights has never met
/// the data: stochastic weight averaging asks for this afterwards (Izmailov et al., arXiv 1803.05407, Sec. 3.2).
/// Forward passes are those of training, dropout included, in `precision` and without gradients; draw them from a seed
/// by prepare_process(). `passed` gets the number of micro-batches after each. The model is left in evaluation mode.
/// Throws
/// std::runtime_error if an epoch has no batch, and NotFinite naming a state that is not. If parts have states of their
/// own (train.state), the process that has part 0 calls it: of the task's micro-batches every `own_parts`-th is part
/// 0's, and only these pass and count.
void pass_for_states(TrainingTask& task, Precision precision, int64_t micro_batches,
                     const std::function<void(int64_t)>& passed = {}, int64_t own_parts = 1);

/// The same; throws std::runtime_error too if the model keeps nothing of its data.
void recalibrate(TrainingTask& task, Precision precision, int64_t micro_batches,
                 const std::function<void(int64_t)>& passed = {}, int64_t own_parts = 1);

}  // namespace cachet::train
