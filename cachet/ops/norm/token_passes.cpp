#include "cachet/ops/norm/token_passes.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include "cachet/kernels/token_passes.h"
#include "cachet/ops/support/fused.h"
#include "cachet/ops/support/optional_tensor.h"

namespace cachet::ops::passes {
namespace {

using at::Tensor;

// Tokens are summed up in chunks of this size and the chunks' sums in order, whatever the number of threads: the result
// does not depend on it, and no float32 sum is longer.
constexpr int64_t kTokenChunk = 128;

// x (…, C) as (N, C) in a wide type, zero at the padding.
Tensor valid_rows(const Tensor& x, const OptionalTensor& padding, at::ScalarType wide) {
  const Tensor rows = x.reshape({-1, x.size(-1)}).to(wide);
  return padding ? at::where(padding->reshape({-1, 1}), at::Scalar(0), rows) : rows;
}

// Whether the CPU's kernels serve x with sums and coefficients of this type.
bool on_cpu(const Tensor& x, at::ScalarType wide) { return wide == at::kFloat && fused_on(x) == FusedOn::cpu; }

int64_t tokens_of(const Tensor& x) { return x.size(-1) > 0 ? x.numel() / x.size(-1) : 0; }

// The sum over all tokens of what add(first, padding, sums (rows, C), tokens) adds for those of a chunk: (rows, C).
template <class Add>
Tensor chunk_sums(const Tensor& x, int64_t rows, const OptionalTensor& padding, const Add& add) {
  const int64_t tokens = tokens_of(x), channels = x.size(-1);
  const Tensor mask = padding ? padding->contiguous() : Tensor();
  const Tensor parts = at::zeros({chunks_of(tokens, kTokenChunk), rows, channels}, x.options().dtype(at::kFloat));
  parallel_chunks(tokens, kTokenChunk, channels, [&](int64_t chunk, int64_t first, int64_t size) {
    add(first, mask.defined() ? mask.const_data_ptr<bool>() + first : nullptr,
        mutable_data<float>(parts) + chunk * rows * channels, kernels::Tokens{size, channels});
  });
  return parts.sum(0, /*keepdim=*/false, at::kDouble).to(at::kFloat);
}

}  // namespace

TokenMean mean_over_tokens(const Tensor& sum, const Tensor& x, const OptionalTensor& padding, BatchReducer* reducer) {
  const int64_t tokens = tokens_of(x), channels = sum.size(0);
  if (!padding && !reducer) {
    const Tensor none = tokens == 0 ? at::ones({}, sum.options().dtype(at::kBool)) : Tensor();
    return {sum / static_cast<double>(std::max<int64_t>(tokens, 1)), none};
  }
  const Tensor count = padding ? padding->bitwise_not().sum().to(sum.scalar_type())
                               : at::scalar_tensor(static_cast<double>(tokens), sum.options());
  Tensor all = at::cat({sum, count.view(1)});
  if (reducer) reducer->all_reduce(all);
  const Tensor of_all = all[channels];
  return {all.narrow(0, 0, channels) / of_all.clamp_min(1), of_all == 0};
}

StateKept::StateKept(std::vector<Tensor> state, const Tensor& none) : state_(std::move(state)), none_(none) {
  if (none_.defined())
    for (const Tensor& tensor : state_) before_.push_back(tensor.clone());
}

void StateKept::restore() {
  for (size_t i = 0; i < before_.size(); ++i) state_[i].copy_(at::where(none_, before_[i], state_[i]));
}

Tensor sum_of_squares(const Tensor& x, const OptionalTensor& padding, at::ScalarType wide) {
  if (!on_cpu(x, wide)) return valid_rows(x, padding, wide).square().sum(0);
  const Tensor dense = x.contiguous();
  Tensor sums;
  for_type_of(x, [&]<class T>(T*) {
    sums = chunk_sums(x, 1, padding, [&](int64_t first, const bool* mask, float* out, kernels::Tokens shape) {
      kernels::sum_of_squares(data<T>(dense) + first * shape.channels, mask, out, shape);
    });
  });
  return sums[0].clone();
}

GradientSums gradient_sums(const Tensor& grad, const Tensor& x, const OptionalTensor& padding, at::ScalarType wide) {
  if (!on_cpu(x, wide) || grad.scalar_type() != x.scalar_type()) {
    const Tensor dy = valid_rows(grad, padding, wide);
    return {(dy * valid_rows(x, padding, wide)).sum(0), dy.sum(0)};
  }
  const Tensor dense = x.contiguous(), dy = grad.contiguous();
  Tensor sums;
  for_type_of(x, [&]<class T>(T*) {
    sums = chunk_sums(x, 2, padding, [&](int64_t first, const bool* mask, float* out, kernels::Tokens shape) {
      const int64_t offset = first * shape.channels;
      kernels::gradient_sums(data<T>(dy) + offset, data<T>(dense) + offset, mask, out, out + shape.channels, shape);
    });
  });
  return {sums[0].clone(), sums[1].clone()};
}

Tensor scale_shift(const Tensor& x, const Tensor& scale, const OptionalTensor& shift) {
  if (!on_cpu(x, scale.scalar_type())) {
    Tensor y = x.to(scale.scalar_type()) * scale;
    if (shift) y = y + *shift;
    return y.to(x.scalar_type()).contiguous();
  }
  const Tensor dense = x.contiguous(), factor = scale.contiguous(), addend = float_vector(shift);
  const Tensor y = at::empty(x.sizes(), x.options());
  const int64_t channels = x.size(-1);
  for_type_of(x, [&]<class T>(T*) {
    parallel(tokens_of(x), channels, [&](int64_t from, int64_t to) {
      kernels::scale_shift(data<T>(dense) + from * channels, data<float>(factor), data_or_null<float>(addend),
                           mutable_data<T>(y) + from * channels, {to - from, channels});
    });
  });
  return y;
}

Tensor scale_subtract(const Tensor& grad, const Tensor& grad_scale, const Tensor& x, const Tensor& input_scale) {
  const auto wide = grad_scale.scalar_type();
  if (!on_cpu(x, wide) || grad.scalar_type() != x.scalar_type())
    return (grad.to(wide) * grad_scale - x.to(wide) * input_scale).to(x.scalar_type()).contiguous();
  const Tensor dense = x.contiguous(), dy = grad.contiguous();
  const Tensor a = grad_scale.contiguous(), b = input_scale.to(at::kFloat).contiguous();
  const Tensor out = at::empty(x.sizes(), x.options());
  const int64_t channels = x.size(-1);
  for_type_of(x, [&]<class T>(T*) {
    parallel(tokens_of(x), channels, [&](int64_t from, int64_t to) {
      const int64_t offset = from * channels;
      kernels::scale_subtract(data<T>(dy) + offset, data<float>(a), data<T>(dense) + offset, data<float>(b),
                              mutable_data<T>(out) + offset, {to - from, channels});
    });
  });
  return out;
}

}  // namespace cachet::ops::passes
