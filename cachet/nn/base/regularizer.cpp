#include "cachet/nn/base/regularizer.h"

#include <ATen/TensorOperators.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

namespace cachet::nn {

at::Tensor Regularized::penalty() const {
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  return wide_penalty();
}

at::Tensor total_penalty(torch::nn::Module& root) {
  at::Tensor total;
  const auto add = [&](const torch::nn::Module& module) {
    const auto* regularized = dynamic_cast<const Regularized*>(&module);
    const at::Tensor penalty = regularized ? regularized->penalty() : at::Tensor();
    if (penalty.defined()) total = total.defined() ? total + penalty : penalty;
  };
  add(root);  // apart: LibTorch walks from a root only if it is held by a shared_ptr
  for (const auto& module : root.modules(/*include_self=*/false)) add(*module);
  return total;
}

}  // namespace cachet::nn
