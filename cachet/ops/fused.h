#pragma once

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>

#include <type_traits>

#include "cachet/kernels/bfloat16.h"

namespace cachet::ops {

/// Whether an operator may run its fused kernel on a tensor: on the CPU, float32 or bfloat16. CACHET_COMPOSITE=1 in the
/// environment, or a CompositeOnly, selects the composition of ATen operators instead.
bool may_fuse(const at::Tensor& x);

/// While it lives, no operator of this process runs a fused kernel: for tests and debugging.
class CompositeOnly {
 public:
  CompositeOnly();
  ~CompositeOnly();
  CompositeOnly(const CompositeOnly&) = delete;
  CompositeOnly& operator=(const CompositeOnly&) = delete;
};

/// Calls body with a null pointer of the kernels' type for a float32 or bfloat16 tensor: body(T*).
template <class Body>
void for_type_of(const at::Tensor& x, const Body& body) {
  if (x.scalar_type() == at::kBFloat16)
    body(static_cast<kernels::BFloat16*>(nullptr));
  else
    body(static_cast<float*>(nullptr));
}

/// The data of a tensor, as kernels see them.
template <class T>
const T* data(const at::Tensor& x) {
  return static_cast<const T*>(x.const_data_ptr());
}
template <class T>
T* mutable_data(const at::Tensor& x) {
  return static_cast<T*>(x.mutable_data_ptr());
}

/// Splits [0, count) over ATen's threads, in pieces of at least about 16,384 of `work` numbers each.
template <class Body>
void parallel(int64_t count, int64_t work, const Body& body) {
  constexpr int64_t kLeastWork = 16'384;
  const int64_t grain = std::max<int64_t>(1, kLeastWork / std::max<int64_t>(1, work));
  at::parallel_for(0, count, grain, body);
}

}  // namespace cachet::ops
