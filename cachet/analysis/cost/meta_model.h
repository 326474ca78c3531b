#pragma once

#include <torch/nn/module.h>

#include <functional>
#include <memory>

#include "cachet/models/model.h"
#include "cachet/models/model_plan.h"

namespace cachet::analysis {

/// Moves parameters and buffers to the meta device, in place: their values are gone, shapes and types stay. (Module::to
/// refuses this move, since the tensors' implementations are not of one kind.)
void move_to_meta(torch::nn::Module& module);

/// The model of a plan on the meta device, in the time that its constructors take; no weight is drawn.
std::shared_ptr<models::Model> build_on_meta(const models::ModelPlan& plan);

/// What is asked of a copy of a model, whose trials are made with these options.
using UseCopy = std::function<void(models::Model& copy, const at::TensorOptions& options)>;

/// Calls `use` with a copy of a model on the meta device; where LibTorch lacks a shape function for it there, once more
/// with one on the CPU.
void use_shapes_of(const models::Model& model, const UseCopy& use);

}  // namespace cachet::analysis
