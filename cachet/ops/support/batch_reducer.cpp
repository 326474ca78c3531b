#include "cachet/ops/support/batch_reducer.h"

#include <torch/csrc/autograd/custom_function.h>

#include "cachet/ops/support/batch_reducer_holder.h"

namespace cachet::ops {
namespace {

at::Tensor added(const at::Tensor& sums, BatchReducer& reducer) {
  at::Tensor all = sums.detach().clone();
  reducer.all_reduce(all);
  return all;
}

struct SumOver : torch::autograd::Function<SumOver> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& sums,
                            const std::shared_ptr<BatchReducer>& reducer) {
    ctx->saved_data["replicas"] = hold(reducer);
    return added(sums, *reducer);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list grads) {
    return {added(grads[0], *held_replicas(ctx->saved_data["replicas"])), at::Tensor()};
  }
};

}  // namespace

at::Tensor sum_over(const at::Tensor& sums, const std::shared_ptr<BatchReducer>& reducer) {
  return reducer ? SumOver::apply(sums, reducer) : sums;
}

}  // namespace cachet::ops
