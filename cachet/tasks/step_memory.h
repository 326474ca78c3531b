#pragma once

#include "cachet/models/model_plan.h"

namespace cachet::tasks {

/// Before memory is taken for a step of training. Throws std::runtime_error if the model's weights, their gradients and
/// what a step keeps of its caches do not fit into the memory that this machine has free.
void require_memory(const models::ModelPlan& plan);

/// The same for a new run. Its caches may also have at most nn::kMaxCacheLength slots.
void require_memory_of_new_run(const models::ModelPlan& plan);

}  // namespace cachet::tasks
