#include "cachet/analysis/cost/operator_calls.h"

#include <memory>
#include <utility>

namespace cachet::analysis {
namespace {

// One call, from its start to its end.
struct Context : at::ObserverContext {
  OperatorCall call;
  bool closes = false;
};

Operands operands_of(c10::ArrayRef<const c10::IValue> values) {
  Operands operands;
  for (const c10::IValue& value : values) {
    if (value.isTensor() || value.isNone())
      operands.tensors.push_back(value.isTensor() ? value.toTensor() : at::Tensor());
    if (value.isTensorList())
      for (const at::Tensor& tensor : value.toTensorVector()) operands.tensors.push_back(tensor);
    if (value.isInt()) operands.numbers.push_back(value.toInt());
    if (value.isBool()) operands.flags.push_back(value.toBool());
  }
  return operands;
}

}  // namespace

OperatorCalls::OperatorCalls(NestedCalls nested, Listener listener) : nested_(nested), listener_(std::move(listener)) {
  TORCH_CHECK(current_ == nullptr, "operator_calls: this thread already has a listener");
  current_ = this;
  handle_ = at::addThreadLocalCallback(
      at::RecordFunctionCallback(start, end).needsInputs(true).needsOutputs(true).scopes({at::RecordScope::FUNCTION}));
}

OperatorCalls::~OperatorCalls() {
  at::removeCallback(handle_);
  current_ = nullptr;
}

std::unique_ptr<at::ObserverContext> OperatorCalls::start(const at::RecordFunction& function) {
  OperatorCalls& self = *current_;
  if (self.closed_ > 0) return nullptr;
  auto context = std::make_unique<Context>();
  context->call.name = function.name();
  context->call.rule = find_operator_rule(function.name());
  context->call.operands = operands_of(function.inputs());
  context->closes = self.nested_ == NestedCalls::none || context->call.rule != nullptr;
  if (context->closes) ++self.closed_;
  return context;
}

void OperatorCalls::end(const at::RecordFunction& function, at::ObserverContext* context) {
  if (context == nullptr) return;  // inside another one
  OperatorCalls& self = *current_;
  Context& ended = *static_cast<Context*>(context);
  if (ended.closes) --self.closed_;
  for (const c10::IValue& value : function.outputs()) {
    if (value.isTensor()) ended.call.outputs.push_back(value.toTensor());
    if (value.isTensorList())
      for (const at::Tensor& tensor : value.toTensorVector()) ended.call.outputs.push_back(tensor);
  }
  self.listener_(ended.call);
}

}  // namespace cachet::analysis
