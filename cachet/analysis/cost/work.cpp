#include "cachet/analysis/cost/work.h"

#include <algorithm>

#include "cachet/analysis/cost/meta_model.h"
#include "cachet/analysis/cost/operator_calls.h"

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

}  // namespace

Work work_of(const models::Model& model) {
  Work work;
  use_shapes_of(model, [&](models::Model& copy, const at::TensorOptions& options) {
    const models::Trial trial = copy.trial(1, options);
    work = {};
    const OperatorCalls calls(NestedCalls::none, [&](const OperatorCall& call) { add(work, call); });
    trial.forward();
  });
  return work;
}

}  // namespace cachet::analysis
