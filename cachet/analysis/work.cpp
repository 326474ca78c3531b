#include "cachet/analysis/work.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "cachet/analysis/meta_kernels.h"
#include "cachet/analysis/operator_calls.h"

namespace cachet::analysis {
namespace {

int64_t bytes_of(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.numel() * static_cast<int64_t>(tensor.itemsize()) : 0;
}

// Whether the call made numbers: a view shows those of its operand.
bool writes(const OperatorCall& call) {
  if (call.outputs.empty()) return false;
  if (call.name.ends_with('_')) return true;
  return std::ranges::none_of(call.operands.tensors, [&](const at::Tensor& operand) {
    return operand.defined() && operand.has_storage() && call.outputs.front().has_storage() &&
           operand.storage().is_alias_of(call.outputs.front().storage());
  });
}

void add(Work& work, const OperatorCall& call) {
  if (!writes(call)) return;
  for (const at::Tensor& operand : call.operands.tensors) work.bytes += bytes_of(operand);
  for (const at::Tensor& output : call.outputs) work.bytes += bytes_of(output);
  if (call.rule) {
    for (const Product& product : call.rule->products(call.operands, call.outputs.front()))
      work.operations += 2 * product.macs;
  } else {
    for (const at::Tensor& output : call.outputs) work.operations += output.numel();
  }
}

Work work_on(const models::Model& model, at::DeviceType device) {
  const auto copy = std::dynamic_pointer_cast<models::Model>(model.clone(device));
  const at::ScalarType dtype = copy->parameters().front().scalar_type();
  const models::Trial trial = copy->trial(1, at::TensorOptions(device).dtype(dtype));
  Work work;
  const OperatorCalls calls(NestedCalls::none, [&](const OperatorCall& call) { add(work, call); });
  trial.forward();
  return work;
}

}  // namespace

Work work_of(const models::Model& model) {
  const at::NoGradGuard no_grad;
  register_meta_kernels();
  try {
    return work_on(model, at::kMeta);
  } catch (const c10::NotImplementedError&) {  // some operator of it has no shape function
    return work_on(model, at::kCPU);
  }
}

}  // namespace cachet::analysis
