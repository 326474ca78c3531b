#include "cachet/analysis/meta_model.h"

#include <ATen/ops/empty_like.h>

#include "cachet/analysis/meta_kernels.h"
#include "cachet/nn/initialization.h"

namespace cachet::analysis {

void move_to_meta(torch::nn::Module& module) {
  at::NoGradGuard no_grad;
  const auto move = [](const torch::Tensor& tensor) {
    if (!tensor.defined() || tensor.is_meta()) return;
    const at::Tensor shape = at::empty_like(tensor, tensor.options().device(at::kMeta));
    tensor.unsafeGetTensorImpl()->shallow_copy_from(shape.getIntrusivePtr());
  };
  for (const auto& parameter : module.parameters()) move(parameter);
  for (const auto& buffer : module.buffers()) move(buffer);
}

std::shared_ptr<models::Model> build_on_meta(const models::ModelPlan& plan) {
  register_meta_kernels();
  const nn::WithoutInitialization no_values;
  auto model = plan.build();
  move_to_meta(*model);
  return model;
}

void use_shapes_of(const models::Model& model, const UseCopy& use) {
  const at::NoGradGuard no_grad;
  register_meta_kernels();
  const auto use_on = [&](at::DeviceType device) {
    const auto copy = std::dynamic_pointer_cast<models::Model>(model.clone(device));
    const auto parameters = copy->parameters();
    use(*copy, at::TensorOptions(device).dtype(parameters.empty() ? at::kFloat : parameters.front().scalar_type()));
  };
  try {
    use_on(at::kMeta);
  } catch (const c10::NotImplementedError&) {
    use_on(at::kCPU);
  }
}

}  // namespace cachet::analysis
