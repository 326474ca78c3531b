#pragma once

#include <torch/nn/module.h>

#include <functional>
#include <memory>

#include "cachet/models/model.h"
#include "cachet/models/model_plan.h"

namespace cachet::analysis {

/// Moves parameters and buffers to the meta device, in place: they lose their values, but not their shapes and types.
/// (Module::to refuses this move, because tensors on the two devices have different implementations.)
void move_to_meta(torch::nn::Module& module);

/// Builds the model of a plan on the meta device, which skips the random initialization of the weights.
std::shared_ptr<models::Model> build_on_meta(const models::ModelPlan& plan);

/// A function that is called with a copy of a model, and with the dtype and device (`options`) of inputs for the copy.
using UseCopy = std::function<void(models::Model& copy, const at::TensorOptions& options)>;

/// Calls `use` with a copy of a model on the meta device. If LibTorch lacks a shape function for the meta device, calls
/// `use` again with a copy on the CPU.
void use_shapes_of(const models::Model& model, const UseCopy& use);

}  // namespace cachet::analysis
