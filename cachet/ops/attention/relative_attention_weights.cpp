#include "cachet/ops/attention/relative_attention_weights.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/softmax.h>
#include <torch/csrc/autograd/custom_function.h>

#include <limits>
#include <tuple>
#include <vector>

#include "cachet/kernels/relative_softmax_rows.h"
#include "cachet/ops/support/device_check.h"
#include "cachet/ops/support/fused.h"
#include "cachet/ops/support/operator_handle.h"
#include "cachet/ops/support/optional_tensor.h"
#include "cachet/ops/support/registration.h"
#include "cachet/ops/support/shapes.h"

namespace cachet::ops {
namespace {

using at::Tensor;

void check_relative_weights(const Tensor& content, const Tensor& position, const OptionalTensor& hidden) {
  constexpr const char* op = "relative_attention_weights";
  TORCH_CHECK(
      content.dim() == 4 && content.is_floating_point() && at_least(content.sym_size(3) - content.sym_size(2), 0), op,
      ": content must be floating (B, H, Lq, Lk) with Lk of at least Lq, got ", content.scalar_type(), " ",
      content.sym_sizes());
  check_shape(op, "position", position, content.sym_sizes(), content);
  if (!hidden) return;
  check_shape(op, "hidden", *hidden, {content.sym_size(2), content.sym_size(3)}, content, at::kBool);
}

void check_relative_gradient(const Tensor& grad, const Tensor& weights) {
  check_relative_weights(weights, weights, {});
  check_shape("relative_attention_weights_backward", "grad", grad, weights.sym_sizes(), weights);
}

// The numbers dealt out anew after a column of zeros.
Tensor shifted(const Tensor& position) {
  const auto batch = position.sym_size(0), heads = position.sym_size(1), queries = position.sym_size(2),
             keys = position.sym_size(3);
  const Tensor padded = at::constant_pad_nd(position, {1, 0}).reshape_symint({batch, heads, keys + 1, queries});
  return padded.slice(2, 1).reshape_symint({batch, heads, queries, keys});
}

Tensor relative_attention_weights_composite(const Tensor& content, const Tensor& position, const OptionalTensor& hidden,
                                            double scale) {
  check_relative_weights(content, position, hidden);
  const auto dtype = c10::promoteTypes(content.scalar_type(), at::kFloat);
  const double infinity = std::numeric_limits<double>::infinity();
  Tensor x = (content.to(dtype) + shifted(position.to(dtype))) * scale;
  if (is_size(x.sym_size(3), 0)) return x.to(content.scalar_type());
  if (hidden) x = x.masked_fill(*hidden, -infinity);
  const Tensor none = x.amax(-1, /*keepdim=*/true).eq(-infinity);
  // Not the rows of −∞ themselves: their softmax is NaN, and its gradient would stay so after a `where`.
  return x.masked_fill(none, 0).softmax(-1).masked_fill(none, 0).to(content.scalar_type());
}

// --- CPU -------------------------------------------------------------------------------------------------------------

Tensor relative_attention_weights_cpu(const Tensor& content, const Tensor& position, const OptionalTensor& hidden,
                                      double scale) {
  if (fused_on(content) != FusedOn::cpu) return relative_attention_weights_composite(content, position, hidden, scale);
  check_relative_weights(content, position, hidden);
  const Tensor in = content.contiguous(), far = position.contiguous(), out = at::empty(in.sizes(), in.options());
  const Tensor unseen = hidden ? hidden->contiguous() : Tensor();
  const int64_t queries = in.size(2), keys = in.size(3), pairs = queries * keys;
  const auto* mask = hidden ? static_cast<const uint8_t*>(unseen.const_data_ptr()) : nullptr;
  for_type_of(in, [&]<class T>(T*) {
    parallel(in.size(0) * in.size(1), pairs, [&](int64_t from, int64_t to) {
      std::vector<float> scratch(static_cast<size_t>(keys));
      for (int64_t i = from; i < to; ++i)
        kernels::relative_softmax_rows(data<T>(in) + i * pairs, data<T>(far) + i * pairs, mask,
                                       static_cast<float>(scale), mutable_data<T>(out) + i * pairs, scratch.data(),
                                       {queries, keys});
    });
  });
  return out;
}

std::tuple<Tensor, Tensor> relative_attention_weights_backward_cpu(const Tensor& grad, const Tensor& weights,
                                                                   double scale) {
  check_fused_on_cpu("relative_attention_weights", fused_on(weights));
  check_relative_gradient(grad, weights);
  const Tensor g = grad.contiguous(), p = weights.contiguous();
  const Tensor d_content = at::empty(p.sizes(), p.options()), d_position = at::empty(p.sizes(), p.options());
  const int64_t queries = p.size(2), keys = p.size(3), pairs = queries * keys;
  for_type_of(p, [&]<class T>(T*) {
    parallel(p.size(0) * p.size(1), pairs, [&](int64_t from, int64_t to) {
      for (int64_t i = from * pairs; i < to * pairs; i += pairs)
        kernels::relative_softmax_rows_backward(data<T>(p) + i, data<T>(g) + i, static_cast<float>(scale),
                                                mutable_data<T>(d_content) + i, mutable_data<T>(d_position) + i,
                                                {queries, keys});
    });
  });
  return {d_content, d_position};
}

// --- shapes ----------------------------------------------------------------------------------------------------------

Tensor relative_attention_weights_meta(const Tensor& content, const Tensor& position, const OptionalTensor& hidden,
                                       double) {
  check_relative_weights(content, position, hidden);
  return empty_as(content);
}

std::tuple<Tensor, Tensor> relative_attention_weights_backward_meta(const Tensor& grad, const Tensor& weights, double) {
  check_relative_gradient(grad, weights);
  return {empty_as(weights), empty_as(weights)};
}

// --- gradient --------------------------------------------------------------------------------------------------------

Tensor call_relative_weights(const Tensor& content, const Tensor& position, const OptionalTensor& hidden,
                             double scale) {
  static const auto op = operator_handle<decltype(relative_attention_weights)>("cachet::relative_attention_weights");
  return op.call(content, position, hidden, scale);
}

struct RelativeAttentionWeights : torch::autograd::Function<RelativeAttentionWeights> {
  static Tensor forward(torch::autograd::AutogradContext* ctx, const Tensor& content, const Tensor& position,
                        const OptionalTensor& hidden, double scale) {
    at::AutoDispatchBelowADInplaceOrView below;
    const Tensor weights = call_relative_weights(content, position, hidden, scale);
    ctx->save_for_backward({weights});
    ctx->saved_data["scale"] = scale;
    return weights;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list grads) {
    static const auto op = operator_handle<decltype(relative_attention_weights_backward_cpu)>(
        "cachet::relative_attention_weights_backward");
    const auto [d_content, d_position] =
        op.call(grads[0], ctx->get_saved_variables()[0], ctx->saved_data["scale"].toDouble());
    return {d_content, d_position, Tensor(), Tensor()};
  }
};

Tensor relative_attention_weights_autograd(const Tensor& content, const Tensor& position, const OptionalTensor& hidden,
                                           double scale) {
  if (fused_on(content, "relative_attention_weights") == FusedOn::none)
    return relative_attention_weights_composite(content, position, hidden, scale);
  return RelativeAttentionWeights::apply(content, position, hidden, scale);
}

}  // namespace

Tensor relative_attention_weights(const Tensor& content, const Tensor& position, const OptionalTensor& hidden,
                                  double scale) {
  return call_relative_weights(content, position, hidden, scale);
}

TORCH_LIBRARY_FRAGMENT(cachet, m) {
  Operator(m, "relative_attention_weights(Tensor content, Tensor position, Tensor? hidden, float scale) -> Tensor")
      .composite(relative_attention_weights_composite)
      .cpu(relative_attention_weights_cpu)
      .meta(relative_attention_weights_meta)
      .autograd(relative_attention_weights_autograd);
  Operator(m, "relative_attention_weights_backward(Tensor grad, Tensor weights, float scale) -> (Tensor, Tensor)")
      .cpu(relative_attention_weights_backward_cpu)
      .meta(relative_attention_weights_backward_meta)
      .without_gradient("relative_attention_weights", kFusedOnce);
}

}  // namespace cachet::ops
