#include "cachet/ops/tokens/resize_tokens.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/div.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/where.h>

#include "cachet/ops/support/operator_handle.h"
#include "cachet/ops/support/registration.h"
#include "cachet/ops/support/shapes.h"

namespace cachet::ops {
namespace {

using at::Tensor;

void check_resize_tokens(const Tensor& tokens, const c10::SymInt& length, const std::optional<Tensor>& padding) {
  TORCH_CHECK(tokens.dim() == 3 && at_least(tokens.sym_size(1), 1),
              "resize_tokens: tokens must be (B, L, C) with L >= 1, got ", tokens.sym_sizes());
  TORCH_CHECK(at_least(length, 1), "resize_tokens: length must be at least 1, got ", length);
  if (!padding) return;
  const auto sizes = tokens.sym_sizes().slice(0, 2);
  TORCH_CHECK(same_sizes(padding->sym_sizes(), sizes) && padding->scalar_type() == at::kBool,
              "resize_tokens: padding must be bool (B, L) = ", sizes, ", got ", padding->scalar_type(), " ",
              padding->sym_sizes());
}

Tensor resize_tokens_composite(const Tensor& tokens, c10::SymInt length, const std::optional<Tensor>& padding) {
  check_resize_tokens(tokens, length, padding);
  const Tensor target = at::arange(length, tokens.options().dtype(at::kLong).requires_grad(false));
  if (!padding) {
    // Only where it is known: a traced program serves equal and unequal lengths.
    if (length.sym_eq(tokens.sym_size(1)).maybe_as_bool().value_or(false)) return tokens.alias();
    return at::index_select(tokens, 1, at::div(target * tokens.sym_size(1), at::Scalar(length), "floor"));
  }
  // A stable sort puts the valid tokens first, in their order; no branch depends on how many there are.
  const Tensor valid_first =
      std::get<1>(at::sort(padding->to(at::kByte), /*stable=*/std::optional<bool>(true), /*dim=*/1));
  const Tensor count = padding->logical_not().sum(1, /*keepdim=*/true);
  const Tensor source = valid_first.gather(1, at::div(target * count, at::Scalar(length), "floor"));
  const Tensor index = source.unsqueeze(2).expand_symint({tokens.sym_size(0), length, tokens.sym_size(2)});
  const Tensor any = (count > 0).unsqueeze(2);
  return at::where(any, tokens.gather(1, index), at::Scalar(0));
}

// Of views and a copy, so that the gradient has its shape too.
Tensor resize_tokens_meta(const Tensor& tokens, c10::SymInt length, const std::optional<Tensor>& padding) {
  check_resize_tokens(tokens, length, padding);
  return tokens.narrow(1, 0, 1)
      .expand_symint({tokens.sym_size(0), length, tokens.sym_size(2)})
      .clone(at::MemoryFormat::Contiguous);
}

}  // namespace

Tensor resize_tokens(const Tensor& tokens, int64_t length, const std::optional<Tensor>& padding) {
  static const auto op = operator_handle<decltype(resize_tokens_composite)>("cachet::resize_tokens");
  return op.call(tokens, length, padding);
}

TORCH_LIBRARY_FRAGMENT(cachet, m) {
  Operator(m, "resize_tokens(Tensor tokens, SymInt length, Tensor? padding=None) -> Tensor")
      .differentiable_composite(resize_tokens_composite)
      .meta(resize_tokens_meta);
  // The unfused form's gradient is not used where a device has a form of its own.
  m.impl("resize_tokens", torch::dispatch(c10::DispatchKey::AutogradMeta, resize_tokens_meta));
}

}  // namespace cachet::ops
