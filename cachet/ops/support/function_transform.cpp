#include "cachet/ops/support/function_transform.h"

#include <ATen/FuncTorchTLS.h>
#include <ATen/functorch/DynamicLayer.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

namespace cachet::ops {

bool in_function_transform() {
  // Without a transform there are no layers, in most programs not even a list of them.
  if (!at::functorch::functorchTLSAccessor() || at::functorch::getDynamicLayerStack().empty()) return false;
  // Forms below autograd get the tensors of one sample, and no gradient passes through them.
  return !c10::impl::tls_is_dispatch_key_excluded(c10::DispatchKey::AutogradCPU);
}

}  // namespace cachet::ops
