#pragma once

#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include <memory>
#include <tuple>

#include "cachet/ops/support/batch_reducer_holder.h"
#include "cachet/ops/support/function_transform.h"
#include "cachet/ops/support/optional_tensor.h"

namespace cachet::ops {

/// Throws c10::Error inside a transform of torch.func, because a training step writes a state. Transforms of torch.func
/// can neither repeat nor vectorise a write to a state.
inline void check_no_transform(const char* op) {
  TORCH_CHECK(!in_function_transform(), op,
              ": cannot run inside torch.func transforms, because a training step changes the state of the norm; use "
              "scale_shift, its form at inference");
}

/// The values that an autograd context saves by name, in addition to its saved tensors.
using SavedNumbers = decltype(torch::autograd::AutogradContext::saved_data);

/// The values of the forward pass that the backward pass of a norm reads.
struct SavedNorm {
  at::Tensor grad, input;
  OptionalTensor weight, padding;
  torch::autograd::variable_list results;  // results of the forward operator, except y
  at::Tensor statistics;
};

/// The autograd function of a norm whose state is two tensors, for one process or several. `Norm` declares:
///   Call                              has the operands (input, weight, bias, padding, statistics, …) for Listed;
///   forward(call, reducer)            returns y and other results (calls the operator if the reducer is null);
///   save(call, numbers)               stores the numbers that backward() reads;
///   backward(saved, numbers, reducer) returns the gradients (calls the operator if the reducer is null).
/// An operator of the dispatcher has no reducer argument, so that a norm with a reducer does not call the operators.
template <class Norm>
struct NormFunction : torch::autograd::Function<NormFunction<Norm>> {
  template <class... Operands>
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* ctx,
                                                const std::shared_ptr<BatchReducer>& reducer,
                                                const Operands&... operands) {
    at::AutoDispatchBelowADInplaceOrView below;
    const typename Norm::Call call{operands...};
    SavedNumbers& numbers = ctx->saved_data;
    if (reducer) numbers["reducer"] = hold(reducer);
    // The state is stored as a reference, because autograd refuses saved variables that later passes have changed.
    numbers["statistics"] = call.statistics;
    numbers["bias"] = call.bias.has_value();
    numbers["operands"] = static_cast<int64_t>(sizeof...(operands));
    Norm::save(call, numbers);
    return std::apply(
        [&](const at::Tensor& y, const auto&... results) -> torch::autograd::variable_list {
          ctx->save_for_backward({call.input, or_undefined(call.weight), or_undefined(call.padding), results...});
          ctx->mark_non_differentiable({results...});
          return {y, results...};
        },
        Norm::forward(call, reducer.get()));
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    SavedNumbers& numbers = ctx->saved_data;
    const auto reducer = numbers.find("reducer");
    const SavedNorm norm{grads[0].defined() ? grads[0] : at::zeros_like(saved[0]),
                         saved[0],
                         as_optional(saved[1]),
                         as_optional(saved[2]),
                         {saved.begin() + 3, saved.end()},
                         numbers["statistics"].toTensor()};
    const auto [dx, dw, db] =
        Norm::backward(norm, numbers, reducer == numbers.end() ? nullptr : held_reducer(reducer->second));
    const at::Tensor none;
    torch::autograd::variable_list all{none, dx, norm.weight ? dw.to(norm.weight->scalar_type()) : none,
                                       numbers["bias"].toBool() ? db : none};
    all.resize(static_cast<size_t>(1 + numbers["operands"].toInt()));
    return all;
  }
};

/// Returns y, which is differentiable, and the other results of a norm, which are not. The reducer may be null.
template <class Norm>
torch::autograd::variable_list apply_norm(const typename Norm::Call& call,
                                          const std::shared_ptr<BatchReducer>& reducer) {
  return call.list([&](const auto&... operands) { return NormFunction<Norm>::apply(reducer, operands...); });
}

}  // namespace cachet::ops
