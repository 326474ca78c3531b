#include "cachet/ops/support/batch_reducer.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <string>
#include <vector>

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
    ctx->saved_data["reducer"] = hold(reducer);
    return added(sums, *reducer);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list grads) {
    return {added(grads[0], *held_reducer(ctx->saved_data["reducer"])), at::Tensor()};
  }
};

c10::OperatorHandle distributed_operator(const char* name) {
  const auto found = c10::Dispatcher::singleton().findSchema({name, ""});
  TORCH_CHECK(found, "batch_reducer: this LibTorch has no ", name, ", because it was built without torch.distributed");
  return *found;
}

class GroupReducer : public BatchReducer {
 public:
  explicit GroupReducer(std::string_view group) : group_(group) {}

  void all_reduce(at::Tensor& sums) override {
    static const auto reduce = distributed_operator("_c10d_functional::all_reduce");
    static const auto wait = distributed_operator("_c10d_functional::wait_tensor");
    const at::NoGradGuard no_grad;
    std::vector<c10::IValue> stack{sums, std::string("sum"), group_};
    reduce.callBoxed(&stack);
    wait.callBoxed(&stack);
    sums.copy_(stack.at(0).toTensor());
  }

 private:
  std::string group_;
};

}  // namespace

std::shared_ptr<BatchReducer> reducer_of_group(std::string_view group) {
  return group.empty() ? nullptr : std::make_shared<GroupReducer>(group);
}

at::Tensor sum_over(const at::Tensor& sums, const std::shared_ptr<BatchReducer>& reducer) {
  return reducer ? SumOver::apply(sums, reducer) : sums;
}

}  // namespace cachet::ops
