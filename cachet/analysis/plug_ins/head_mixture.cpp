#include "cachet/analysis/plug_ins/head_mixture.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/constant_pad_nd.h>
#include <c10/core/ScalarType.h>

namespace cachet::analysis {

HeadMixture mixed_by_head(const at::Tensor& gate, const at::Tensor& self_output, const at::Tensor& memory_output) {
  const int64_t heads = gate.numel();
  const auto by_head = [&](const at::Tensor& x) {
    const at::Tensor wide = x.to(c10::promoteTypes(x.scalar_type(), at::kFloat));
    return wide.reshape({x.size(0), x.size(1), heads, x.size(2) / heads});
  };
  const at::Tensor self = by_head(self_output), memory = by_head(memory_output);
  const at::Tensor weight = gate.to(self.scalar_type()).view({heads, 1});
  HeadMixture mixture{self * (1 - weight), memory * weight, {}};
  const int64_t behind = self.size(3) - memory.size(3);
  if (behind > 0) mixture.from_memory = at::constant_pad_nd(mixture.from_memory, {0, behind});
  mixture.sum = mixture.from_self + mixture.from_memory;
  return mixture;
}

}  // namespace cachet::analysis
