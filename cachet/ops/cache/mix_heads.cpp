#include "cachet/ops/cache/mix_heads.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <tuple>

#include "cachet/kernels/mix_heads.h"
#include "cachet/ops/support/device_check.h"
#include "cachet/ops/support/fused.h"
#include "cachet/ops/support/operator_handle.h"
#include "cachet/ops/support/registration.h"
#include "cachet/ops/support/shapes.h"

namespace cachet::ops {
namespace {

using at::Tensor;

void check_mix_heads(const Tensor& self, const Tensor& memory, const Tensor& logit) {
  TORCH_CHECK(self.dim() == 4, "mix_heads: self must be (B, T, H, d), got ", self.sym_sizes());
  TORCH_CHECK(memory.dim() == 4 && same_sizes(memory.sym_sizes().slice(0, 3), self.sym_sizes().slice(0, 3)),
              "mix_heads: memory must be (B, T, H, m) with the B, T, H of self ", self.sym_sizes(), ", got ",
              memory.sym_sizes());
  TORCH_SYM_CHECK(memory.sym_size(3).sym_le(self.sym_size(3)),
                  "mix_heads: memory heads must not be wider than self heads (", self.sym_size(3),
                  " channels), but have ", memory.sym_size(3));
  check_vector("mix_heads", logit, "H", self.sym_size(2), "logit");
  check_same_device("mix_heads", self, {{"memory", memory}, {"logit", logit}});
  TORCH_CHECK(memory.scalar_type() == self.scalar_type(), "mix_heads: memory must have the dtype of self, ",
              self.scalar_type(), ", got ", memory.scalar_type());
}

void check_gradient(const Tensor& grad, const Tensor& self, const Tensor& memory, const Tensor& logit) {
  check_mix_heads(self, memory, logit);
  check_shape("mix_heads_backward", "grad", grad, self.sym_sizes(), self);
}

Tensor mix_heads_composite(const Tensor& self, const Tensor& memory, const Tensor& logit) {
  check_mix_heads(self, memory, logit);
  const Tensor gate = logit.sigmoid().view({1, 1, -1, 1}).to(self.scalar_type());
  const Tensor wide = at::constant_pad_nd_symint(memory, {0, self.sym_size(3) - memory.sym_size(3)});
  return (gate * wide + (1 - gate) * self).contiguous();
}

// --- CPU -------------------------------------------------------------------------------------------------------------

kernels::MixHeadsShape shape_of(const Tensor& self, const Tensor& memory) {
  return {self.size(0) * self.size(1), self.size(2), self.size(3), memory.size(3)};
}

// Tokens that one call of a kernel takes when sums are taken: their order does not depend on the number of threads.
constexpr int64_t kTokens = 64;

Tensor mix_heads_cpu(const Tensor& self, const Tensor& memory, const Tensor& logit) {
  if (fused_on(self) != FusedOn::cpu) return mix_heads_composite(self, memory, logit);
  check_mix_heads(self, memory, logit);
  const Tensor a = self.contiguous(), b = memory.contiguous();
  const Tensor gate = logit.to(at::kFloat).sigmoid().contiguous();
  const Tensor out = at::empty(a.sizes(), a.options());
  const auto whole = shape_of(a, b);
  const int64_t self_row = whole.heads * whole.head_dim, memory_row = whole.heads * whole.memory_head_dim;
  for_type_of(a, [&]<class T>(T*) {
    parallel(whole.tokens, self_row, [&](int64_t from, int64_t to) {
      auto part = whole;
      part.tokens = to - from;
      kernels::mix_heads(data<T>(a) + from * self_row, data<T>(b) + from * memory_row, data<float>(gate),
                         mutable_data<T>(out) + from * self_row, part);
    });
  });
  return out;
}

// s = σ(λ):  ∂self = (1 − s)·g,  ∂memory = s·g[:m],  ∂λ = s(1 − s)·Σ (memory·g[:m] − self·g)
std::tuple<Tensor, Tensor, Tensor> mix_heads_backward_cpu(const Tensor& grad, const Tensor& self, const Tensor& memory,
                                                          const Tensor& logit) {
  check_fused_on_cpu("mix_heads", fused_on(self));
  check_gradient(grad, self, memory, logit);
  const Tensor g = grad.contiguous(), a = self.contiguous(), b = memory.contiguous();
  const Tensor gate = logit.to(at::kFloat).sigmoid().contiguous();
  const Tensor d_self = at::empty(a.sizes(), a.options()), d_memory = at::empty(b.sizes(), b.options());
  const auto whole = shape_of(a, b);
  const int64_t self_row = whole.heads * whole.head_dim, memory_row = whole.heads * whole.memory_head_dim;
  const Tensor d_gates = at::zeros({chunks_of(whole.tokens, kTokens), whole.heads}, a.options().dtype(at::kFloat));
  for_type_of(a, [&]<class T>(T*) {
    parallel_chunks(whole.tokens, kTokens, self_row, [&](int64_t chunk, int64_t first, int64_t size) {
      const int64_t in_self = first * self_row, in_memory = first * memory_row;
      auto part = whole;
      part.tokens = size;
      kernels::mix_heads_backward(data<T>(g) + in_self, data<T>(a) + in_self, data<T>(b) + in_memory, data<float>(gate),
                                  mutable_data<T>(d_self) + in_self, mutable_data<T>(d_memory) + in_memory,
                                  mutable_data<float>(d_gates) + chunk * whole.heads, part);
    });
  });
  return {d_self, d_memory, (gate * (1 - gate) * d_gates.sum(0)).to(logit.scalar_type())};
}

Tensor mix_heads_meta(const Tensor& self, const Tensor& memory, const Tensor& logit) {
  check_mix_heads(self, memory, logit);
  return empty_as(self);
}

std::tuple<Tensor, Tensor, Tensor> mix_heads_backward_meta(const Tensor& grad, const Tensor& self, const Tensor& memory,
                                                           const Tensor& logit) {
  check_gradient(grad, self, memory, logit);
  return {empty_as(self), empty_as(memory), empty_as(logit)};
}

// --- gradient --------------------------------------------------------------------------------------------------------

struct MixHeads : torch::autograd::Function<MixHeads> {
  static Tensor forward(torch::autograd::AutogradContext* ctx, const Tensor& self, const Tensor& memory,
                        const Tensor& logit) {
    at::AutoDispatchBelowADInplaceOrView below;
    ctx->save_for_backward({self, memory, logit});
    return mix_heads(self, memory, logit);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list grads) {
    static const auto op = operator_handle<decltype(mix_heads_backward_cpu)>("cachet::mix_heads_backward");
    const auto saved = ctx->get_saved_variables();
    const auto [d_self, d_memory, d_logit] = op.call(grads[0], saved[0], saved[1], saved[2]);
    return {d_self, d_memory, d_logit};
  }
};

Tensor mix_heads_autograd(const Tensor& self, const Tensor& memory, const Tensor& logit) {
  if (fused_on(self, "mix_heads") == FusedOn::none) return mix_heads_composite(self, memory, logit);
  return MixHeads::apply(self, memory, logit);
}

}  // namespace

Tensor mix_heads(const Tensor& self, const Tensor& memory, const Tensor& logit) {
  static const auto op = operator_handle<decltype(mix_heads)>("cachet::mix_heads");
  return op.call(self, memory, logit);
}

TORCH_LIBRARY_FRAGMENT(cachet, m) {
  Operator(m, "mix_heads(Tensor self, Tensor memory, Tensor logit) -> Tensor")
      .composite(mix_heads_composite)
      .cpu(mix_heads_cpu)
      .meta(mix_heads_meta)
      .autograd(mix_heads_autograd)
      .autocast<ops::mix_heads, 0, 1>();
  Operator(m, "mix_heads_backward(Tensor grad, Tensor self, Tensor memory, Tensor logit) -> (Tensor, Tensor, Tensor)")
      .cpu(mix_heads_backward_cpu)
      .meta(mix_heads_backward_meta)
      .without_gradient("mix_heads", kFusedOnce);
}

}  // namespace cachet::ops
