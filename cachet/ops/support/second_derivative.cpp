#include "cachet/ops/support/second_derivative.h"

#include <ATen/core/boxing/BoxedKernel.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/autograd/custom_function.h>

#include <memory>
#include <utility>
#include <vector>

namespace cachet::ops {
namespace {

using at::Tensor;

/// Calls take(tensor) for each tensor of a value, those of a list too, and puts back what it returns.
template <class Take>
void replace_tensors(c10::IValue& value, const Take& take) {
  if (value.isTensor()) {
    value = take(value.toTensor());
  } else if (value.isTensorList()) {
    c10::List<Tensor> all;
    for (const Tensor& tensor : value.toTensorVector()) all.push_back(take(tensor));
    value = all;
  }
}

std::vector<Tensor> tensors_of(torch::jit::Stack& values) {
  std::vector<Tensor> all;
  const auto take = [&](const Tensor& tensor) { return all.emplace_back(tensor); };
  for (c10::IValue& value : values) replace_tensors(value, take);
  return all;
}

void call_below_autograd(const c10::OperatorHandle& op, torch::jit::Stack& stack) {
  at::AutoDispatchBelowADInplaceOrView below;
  op.callBoxed(stack);
}

struct DifferentiableOnce : torch::autograd::Function<DifferentiableOnce> {
  static std::vector<Tensor> forward(torch::autograd::AutogradContext* ctx, at::TensorList /*operands*/,
                                     const c10::OperatorHandle& op, torch::jit::Stack* stack,
                                     const std::string& message) {
    ctx->saved_data["message"] = message;
    call_below_autograd(op, *stack);
    return tensors_of(*stack);
  }
  static std::vector<Tensor> backward(torch::autograd::AutogradContext* ctx, const std::vector<Tensor>&) {
    TORCH_CHECK(false, ctx->saved_data["message"].toStringRef());
  }
};

class RefuseSecondDerivative : public c10::OperatorKernel {
 public:
  explicit RefuseSecondDerivative(std::string message) : message_(std::move(message)) {}

  // The stack holds the operands of this operator last, and then its results in their position.
  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) const {
    torch::jit::Stack own = torch::jit::pop(*stack, op.schema().arguments().size());
    const std::vector<Tensor> operands = at::GradMode::is_enabled() ? tensors_of(own) : std::vector<Tensor>();
    if (torch::autograd::any_variable_requires_grad(operands)) {
      const std::vector<Tensor> results = DifferentiableOnce::apply(at::TensorList(operands), op, &own, message_);
      size_t next = 0;
      for (c10::IValue& value : own) replace_tensors(value, [&](const Tensor&) { return results[next++]; });
    } else {
      call_below_autograd(op, own);
    }
    stack->insert(stack->end(), own.begin(), own.end());
  }

 private:
  std::string message_;
};

}  // namespace

torch::CppFunction refuse_second_derivative(std::string message) {
  return torch::CppFunction::makeFromBoxedKernel(
      c10::BoxedKernel::makeFromFunctor(std::make_unique<RefuseSecondDerivative>(std::move(message))));
}

}  // namespace cachet::ops
