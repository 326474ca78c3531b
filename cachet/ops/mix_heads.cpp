#include "cachet/ops/mix_heads.h"

#include <ATen/TensorOperators.h>
#include <ATen/autocast_mode.h>
#include <ATen/ops/constant_pad_nd.h>
#include <torch/library.h>

#include "cachet/ops/dispatch.h"

namespace cachet::ops {
namespace {

using at::Tensor;

void check(const Tensor& self, const Tensor& memory, const Tensor& logit) {
  TORCH_CHECK(self.dim() == 4, "mix_heads: self must be (B, T, H, d), got ", self.sizes());
  TORCH_CHECK(memory.dim() == 4 && memory.sizes().slice(0, 3) == self.sizes().slice(0, 3),
              "mix_heads: memory must be (B, T, H, m) with the B, T, H of self ", self.sizes(), ", got ",
              memory.sizes());
  TORCH_CHECK(memory.size(3) <= self.size(3), "mix_heads: memory heads (", memory.size(3),
              ") are wider than self heads (", self.size(3), ")");
  TORCH_CHECK(logit.dim() == 1 && logit.size(0) == self.size(2), "mix_heads: logit must be (H) = (", self.size(2),
              "), got ", logit.sizes());
  TORCH_CHECK(memory.scalar_type() == self.scalar_type(), "mix_heads: self is ", self.scalar_type(), ", memory ",
              memory.scalar_type());
}

Tensor mix_heads_composite(const Tensor& self, const Tensor& memory, const Tensor& logit) {
  check(self, memory, logit);
  const Tensor share = logit.sigmoid().view({1, 1, -1, 1}).to(self.scalar_type());
  const Tensor wide = at::constant_pad_nd(memory, {0, self.size(3) - memory.size(3)});
  return share * wide + (1 - share) * self;
}

template <c10::DeviceType device, c10::DispatchKey autocast>
Tensor mix_heads_autocast(const Tensor& self, const Tensor& memory, const Tensor& logit) {
  c10::impl::ExcludeDispatchKeyGuard no_autocast(autocast);
  const auto dtype = at::autocast::get_autocast_dtype(device);
  return mix_heads(at::autocast::cached_cast(dtype, self, device), at::autocast::cached_cast(dtype, memory, device),
                   logit);
}

}  // namespace

Tensor mix_heads(const Tensor& self, const Tensor& memory, const Tensor& logit) {
  static const auto op = operator_handle<decltype(mix_heads)>("cachet::mix_heads");
  return op.call(self, memory, logit);
}

TORCH_LIBRARY_FRAGMENT(cachet, m) { m.def("mix_heads(Tensor self, Tensor memory, Tensor logit) -> Tensor"); }
TORCH_LIBRARY_IMPL(cachet, CompositeImplicitAutograd, m) { m.impl("mix_heads", mix_heads_composite); }
TORCH_LIBRARY_IMPL(cachet, AutocastCPU, m) {
  m.impl("mix_heads", mix_heads_autocast<at::kCPU, c10::DispatchKey::AutocastCPU>);
}
TORCH_LIBRARY_IMPL(cachet, AutocastCUDA, m) {
  m.impl("mix_heads", mix_heads_autocast<at::kCUDA, c10::DispatchKey::AutocastCUDA>);
}

}  // namespace cachet::ops
