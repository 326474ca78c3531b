#pragma once

#include <torch/nn/module.h>

#include <memory>

#include "cachet/models/model.h"
#include "cachet/models/model_plan.h"

namespace cachet::analysis {

/// Moves parameters and buffers to the meta device, in place: their values are gone, shapes and types stay. (Module::to
/// refuses this move, since the tensors' implementations are not of one kind.)
void move_to_meta(torch::nn::Module& module);

/// The model of a plan on the meta device, in the time that its constructors take; no weight is drawn.
std::shared_ptr<models::Model> build_on_meta(const models::ModelPlan& plan);

}  // namespace cachet::analysis
