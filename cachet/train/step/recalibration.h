#pragma once

#include <torch/nn/module.h>

#include <cstdint>
#include <functional>

#include "cachet/train/options.h"
#include "cachet/train/training_task.h"

namespace cachet::train {

/// Whether a model stores values from the data that it processes in training (ops::Recalibrated).
bool has_states(const torch::nn::Module& model);

/// Passes micro-batches of training through a task's model, from the first micro-batch of the first epoch on. After the
/// passes, the states that the model computes from data depend only on the present weights and these micro-batches:
/// running statistics of norms are means over the micro-batches, and caches began empty. The weights do not change.
/// Stochastic weight averaging needs passes of data through the model, because a mean of weights has never processed
/// the data (Izmailov et al., arXiv 1803.05407, Sec. 3.2). Forward passes are as in training, including dropout, in
/// `precision` and without gradients. To seed the forward passes, call prepare_process() first. After each micro-batch,
/// calls `passed` with the number of micro-batches so far. Leaves the model in evaluation mode. Throws
/// std::runtime_error if an epoch has no batch, and NotFinite, which names the state, if a state is not finite. If
/// parts have their own states (train.state), the process of part 0 calls this function. Every `own_parts`-th
/// micro-batch of the task belongs to part 0. The model gets only micro-batches of part 0, and only these count.
void pass_for_states(TrainingTask& task, Precision precision, int64_t micro_batches,
                     const std::function<void(int64_t)>& passed = {}, int64_t own_parts = 1);

/// Works like pass_for_states(), but throws std::runtime_error if the model stores no values from its data.
void recalibrate(TrainingTask& task, Precision precision, int64_t micro_batches,
                 const std::function<void(int64_t)>& passed = {}, int64_t own_parts = 1);

}  // namespace cachet::train
