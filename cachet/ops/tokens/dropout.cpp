#include "cachet/ops/tokens/dropout.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/EmptyTensor.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>
#include <mutex>

#include "cachet/kernels/dropout.h"
#include "cachet/ops/support/fused.h"
#include "cachet/ops/support/operator_handle.h"
#include "cachet/ops/support/registration.h"
#include "cachet/ops/support/shapes.h"

namespace cachet::ops {
namespace {

using at::Tensor;

void check_dropout(const Tensor& x, double p) {
  TORCH_CHECK(x.is_floating_point(), "dropout: x must be floating, got ", x.scalar_type());
  TORCH_CHECK(p >= 0 && p <= 1, "dropout: p must be in [0, 1], got ", p);
}

// Some element is retained: p < 1.
kernels::DropoutMask mask_of(double p, int64_t seed) {
  const double words = std::round((1 - p) * 0x1p32);
  return {static_cast<uint64_t>(seed), static_cast<uint32_t>(std::max(words, 1.0) - 1)};
}

// Allocated without the dispatcher: inside a transform of torch.func a tensor of the dispatcher has no memory to write
// to.
Tensor kept_elements(const Tensor& x, double p, int64_t seed) {
  const Tensor kept = at::detail::empty_cpu(x.sizes(), at::kBool);
  parallel(x.numel(), 1, [&](int64_t from, int64_t to) {
    kernels::kept_by_dropout(mask_of(p, seed), from, to - from, mutable_data<bool>(kept) + from);
  });
  return kept;
}

// The mask is made on the CPU, in the order of the tensor's elements, and brought to its device.
Tensor dropout_composite(const Tensor& x, double p, int64_t seed) {
  check_dropout(x, p);
  if (p == 1) return at::zeros_like(x);
  const Tensor kept = kept_elements(x, p, seed);
  return x.contiguous().masked_fill(kept.logical_not().to(x.device()), 0) * (1 / (1 - p));
}

Tensor dropout_cpu(const Tensor& x, double p, int64_t seed) {
  if (fused_on(x) != FusedOn::cpu || p == 1) return dropout_composite(x, p, seed);
  check_dropout(x, p);
  const Tensor in = x.contiguous(), out = at::empty_like(in);
  const int64_t count = in.numel();
  for_type_of(in, [&]<class T>(T*) {
    parallel(chunks_of(count, kernels::kDropoutGroup), kernels::kDropoutGroup, [&](int64_t from, int64_t to) {
      const int64_t first = from * kernels::kDropoutGroup, last = std::min(count, to * kernels::kDropoutGroup);
      kernels::dropout(data<T>(in) + first, mutable_data<T>(out) + first, mask_of(p, seed),
                       static_cast<float>(1 / (1 - p)), first, last - first);
    });
  });
  return out;
}

Tensor dropout_meta(const Tensor& x, double p, int64_t) {
  check_dropout(x, p);
  return empty_as(x);
}

Tensor call_dropout(const Tensor& x, double p, int64_t seed) {
  static const auto op = operator_handle<decltype(dropout_composite)>("cachet::dropout");
  return op.call(x, p, seed);
}

// The operator is linear: its gradient is itself.
struct Dropout : torch::autograd::Function<Dropout> {
  static Tensor forward(torch::autograd::AutogradContext* ctx, const Tensor& x, double p, int64_t seed) {
    at::AutoDispatchBelowADInplaceOrView below;
    ctx->saved_data["p"] = p;
    ctx->saved_data["seed"] = seed;
    return call_dropout(x, p, seed);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list grads) {
    return {call_dropout(grads[0], ctx->saved_data["p"].toDouble(), ctx->saved_data["seed"].toInt()), Tensor(),
            Tensor()};
  }
};

Tensor dropout_autograd(const Tensor& x, double p, int64_t seed) {
  return in_function_transform() ? dropout_composite(x, p, seed) : Dropout::apply(x, p, seed);
}

int64_t drawn_seed() {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  const std::lock_guard lock(generator.mutex());
  return static_cast<int64_t>(at::check_generator<at::CPUGeneratorImpl>(generator)->random64());
}

}  // namespace

Tensor dropout(const Tensor& x, double p, bool training) {
  check_dropout(x, p);
  if (!training || p == 0) return x;
  return x.is_cpu() ? call_dropout(x, p, drawn_seed()) : at::dropout(x, p, true);
}

TORCH_LIBRARY_FRAGMENT(cachet, m) {
  Operator(m, "dropout(Tensor x, float p, int seed) -> Tensor")
      .composite(dropout_composite)
      .cpu(dropout_cpu)
      .meta(dropout_meta)
      .autograd(dropout_autograd);
}

}  // namespace cachet::ops
