#include "cachet/nn/regularizer.h"

#include <ATen/TensorOperators.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

namespace cachet::nn {

at::Tensor Regularized::penalty() const {
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  return wide_penalty();
}

at::Tensor total_penalty(torch::nn::Module& root) {
  at::Tensor total;
  for (const auto& module : root.modules()) {
    const auto* regularized = dynamic_cast<const Regularized*>(module.get());
    const at::Tensor penalty = regularized ? regularized->penalty() : at::Tensor();
    if (penalty.defined()) total = total.defined() ? total + penalty : penalty;
  }
  return total;
}

}  // namespace cachet::nn
