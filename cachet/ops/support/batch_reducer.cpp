#include "cachet/ops/support/batch_reducer.h"

#include <torch/csrc/autograd/custom_function.h>

#include "cachet/ops/support/batch_reducer_holder.h"

namespace cachet::ops {
namespace {

at::Tensor added(const at::Tensor& sums, Replicas& replicas) {
  at::Tensor all = sums.detach().clone();
  replicas.add(all);
  return all;
}

struct SumOver : torch::autograd::Function<SumOver> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& sums,
                            const std::shared_ptr<Replicas>& replicas) {
    ctx->saved_data["replicas"] = hold(replicas);
    return added(sums, *replicas);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list grads) {
    return {added(grads[0], *held_replicas(ctx->saved_data["replicas"])), at::Tensor()};
  }
};

}  // namespace

at::Tensor sum_over(const at::Tensor& sums, const std::shared_ptr<Replicas>& replicas) {
  return replicas ? SumOver::apply(sums, replicas) : sums;
}

}  // namespace cachet::ops
