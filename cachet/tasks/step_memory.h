#pragma once

#include "cachet/models/model_plan.h"

namespace cachet::tasks {

/// Checks the memory before a training step. Throws std::runtime_error if the model's weights, their gradients and the
/// part of its caches that a step stores do not fit into the free memory of this machine.
void require_memory(const models::ModelPlan& plan);

/// Checks the memory of a new run, and also checks that each cache of the run has at most nn::kMaxCacheLength
/// slots.
void require_memory_of_new_run(const models::ModelPlan& plan);

}  // namespace cachet::tasks
