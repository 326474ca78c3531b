#include "cachet/ops/tokens/permute_tokens.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cstring>

#include "cachet/ops/support/device_check.h"
#include "cachet/ops/support/fused.h"
#include "cachet/ops/support/operator_handle.h"
#include "cachet/ops/support/registration.h"
#include "cachet/ops/support/shapes.h"

namespace cachet::ops {
namespace {

using at::Tensor;

void check_permute_tokens(const Tensor& x, const Tensor& index, const Tensor& inverse) {
  TORCH_CHECK(x.dim() == 3, "permute_tokens: x must be (B, N, C), got ", x.sym_sizes());
  TORCH_CHECK(index.dim() == 1 && index.scalar_type() == at::kLong, "permute_tokens: index must be int64 (M), got ",
              index.scalar_type(), " ", index.sym_sizes());
  TORCH_CHECK(inverse.scalar_type() == at::kLong && is_vector(inverse, x.sym_size(1)),
              "permute_tokens: inverse must be int64 (N) = (", x.sym_size(1), "), got ", inverse.scalar_type(), " ",
              inverse.sym_sizes());
  check_same_device("permute_tokens", x, {{"index", index}, {"inverse", inverse}});
}

Tensor permute_tokens_composite(const Tensor& x, const Tensor& index, const Tensor& inverse) {
  check_permute_tokens(x, index, inverse);
  if (is_size(x.sym_size(1), 0))
    return at::empty_symint({x.sym_size(0), index.sym_size(0), x.sym_size(2)}, x.options()).zero_();
  return at::index_select(x, 1, index.clamp_min(0)).masked_fill_((index < 0).unsqueeze(1), 0);
}

Tensor permute_tokens_cpu(const Tensor& x, const Tensor& index, const Tensor& inverse) {
  check_permute_tokens(x, index, inverse);
  const int64_t batch = x.size(0), tokens = x.size(1), slots = index.size(0);
  const Tensor order = index.contiguous();
  const auto* from = order.const_data_ptr<int64_t>();
  for (int64_t i = 0; i < slots; ++i)
    TORCH_CHECK(from[i] >= -1 && from[i] < tokens, "permute_tokens: index[", i, "] must be -1 or a token from 0 to ",
                tokens - 1, ", got ", from[i]);
  if (composite_only()) return permute_tokens_composite(x, index, inverse);

  const Tensor source = x.contiguous();
  const Tensor out = at::empty({batch, slots, x.size(2)}, x.options());
  if (out.numel() == 0) return out;  // which has no memory to copy to
  const auto bytes = static_cast<size_t>(x.size(2)) * x.element_size();
  const auto* in = static_cast<const char*>(source.const_data_ptr());
  auto* to = static_cast<char*>(out.mutable_data_ptr());
  parallel(batch * slots, x.size(2), [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      const int64_t sample = row / slots, token = from[row % slots];
      char* place = to + static_cast<size_t>(row) * bytes;
      if (token < 0)
        std::memset(place, 0, bytes);
      else
        std::memcpy(place, in + static_cast<size_t>(sample * tokens + token) * bytes, bytes);
    }
  });
  return out;
}

Tensor permute_tokens_meta(const Tensor& x, const Tensor& index, const Tensor& inverse) {
  check_permute_tokens(x, index, inverse);
  return at::empty_symint({x.sym_size(0), index.sym_size(0), x.sym_size(2)}, x.options());
}

struct PermuteTokens : torch::autograd::Function<PermuteTokens> {
  static Tensor forward(torch::autograd::AutogradContext* ctx, const Tensor& x, const Tensor& index,
                        const Tensor& inverse) {
    at::AutoDispatchBelowADInplaceOrView below;
    ctx->save_for_backward({index, inverse});
    return permute_tokens(x, index, inverse);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    return {permute_tokens(grads[0], saved[1], saved[0]), Tensor(), Tensor()};
  }
};

Tensor permute_tokens_autograd(const Tensor& x, const Tensor& index, const Tensor& inverse) {
  return in_function_transform() ? permute_tokens_composite(x, index, inverse)
                                 : PermuteTokens::apply(x, index, inverse);
}

}  // namespace

Tensor permute_tokens(const Tensor& x, const Tensor& index, const Tensor& inverse) {
  static const auto op = operator_handle<decltype(permute_tokens)>("cachet::permute_tokens");
  return op.call(x, index, inverse);
}

TORCH_LIBRARY_FRAGMENT(cachet, m) {
  Operator(m, "permute_tokens(Tensor x, Tensor index, Tensor inverse) -> Tensor")
      .composite(permute_tokens_composite)
      .cpu(permute_tokens_cpu)
      .meta(permute_tokens_meta)
      .autograd(permute_tokens_autograd);
}

}  // namespace cachet::ops
