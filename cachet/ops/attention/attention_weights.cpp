#include "cachet/ops/attention/attention_weights.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <limits>
#include <tuple>
#include <vector>

#include "cachet/kernels/softmax_rows.h"
#include "cachet/ops/support/device_check.h"
#include "cachet/ops/support/fused.h"
#include "cachet/ops/support/operator_handle.h"
#include "cachet/ops/support/optional_tensor.h"
#include "cachet/ops/support/registration.h"
#include "cachet/ops/support/shapes.h"

namespace cachet::ops {
namespace {

using at::Tensor;

void check_attention_weights(const Tensor& scores, const OptionalTensor& bias) {
  TORCH_CHECK(scores.dim() == 4 && scores.is_floating_point(),
              "attention_weights: scores must be floating (B, H, Lq, Lk), got ", scores.scalar_type(), " ",
              scores.sym_sizes());
  if (!bias) return;
  const auto fits = [&](int64_t dim) { return same_size_or_one(bias->sym_size(dim), scores.sym_size(dim)); };
  TORCH_CHECK(bias->dim() == 4 && bias->is_floating_point() && fits(1) && fits(2) && fits(3),
              "attention_weights: bias must be floating (W, H, Lq, Lk), or 1 in place of the last three, for scores ",
              scores.sym_sizes(), ", got ", bias->scalar_type(), " ", bias->sym_sizes());
  TORCH_CHECK(divides(bias->sym_size(0), scores.sym_size(0)),
              "attention_weights: the windows of the bias must divide the batch of scores, but ", bias->sym_size(0),
              " does not divide ", scores.sym_size(0));
  check_same_device("attention_weights", scores, {{"bias", bias}});
}

void check_gradient(const Tensor& grad, const Tensor& weights, const c10::SymInt& windows) {
  check_attention_weights(weights, {});
  check_shape("attention_weights_backward", "grad", grad, weights.sym_sizes(), weights);
  TORCH_CHECK(is_size(windows, 0) || divides(windows, weights.sym_size(0)),
              "attention_weights_backward: windows must divide the batch of weights, but ", windows,
              " does not divide ", weights.sym_size(0));
}

Tensor attention_weights_composite(const Tensor& scores, const OptionalTensor& bias, double scale) {
  check_attention_weights(scores, bias);
  const auto dtype = c10::promoteTypes(scores.scalar_type(), at::kFloat);
  Tensor x = scores.to(dtype) * scale;
  if (bias) {
    const auto windows = bias->sym_size(0);
    const Tensor by_window = x.unflatten_symint(0, {x.sym_size(0) / windows, windows}) + bias->to(dtype).unsqueeze(0);
    x = by_window.flatten(0, 1);
  }
  if (is_size(x.sym_size(3), 0)) return x.to(scores.scalar_type());
  const Tensor none = x.amax(-1, /*keepdim=*/true).eq(-std::numeric_limits<double>::infinity());
  // Not the rows of −∞ themselves: their softmax is NaN, and its gradient would stay so after a `where`.
  const Tensor weights = x.masked_fill(none, 0).softmax(-1).masked_fill(none, 0);
  return weights.to(scores.scalar_type());
}

// --- CPU -------------------------------------------------------------------------------------------------------------

// The bias of each window and head in float32 (W, H, Lq, Lk); undefined where there is none.
Tensor whole_bias(const Tensor& scores, const OptionalTensor& bias) {
  if (!bias) return Tensor();
  return bias->to(at::kFloat).expand({bias->size(0), scores.size(1), scores.size(2), scores.size(3)}).contiguous();
}

Tensor attention_weights_cpu(const Tensor& scores, const OptionalTensor& bias, double scale) {
  if (fused_on(scores) != FusedOn::cpu) return attention_weights_composite(scores, bias, scale);
  check_attention_weights(scores, bias);
  const Tensor in = scores.contiguous(), added = whole_bias(in, bias);
  const Tensor out = at::empty(in.sizes(), in.options());
  const int64_t heads = in.size(1), queries = in.size(2), keys = in.size(3), pairs = queries * keys;
  const int64_t squares = added.defined() ? added.size(0) * heads : 1;
  for_type_of(in, [&]<class T>(T*) {
    parallel(in.size(0) * heads, pairs, [&](int64_t from, int64_t to) {
      std::vector<float> scratch(static_cast<size_t>(keys));
      for (int64_t i = from; i < to; ++i)
        kernels::softmax_rows(
            data<T>(in) + i * pairs, added.defined() ? data<float>(added) + i % squares * pairs : nullptr,
            static_cast<float>(scale), mutable_data<T>(out) + i * pairs, scratch.data(), {queries, keys});
    });
  });
  return out;
}

// Gradients of the scores, and of the whole bias (windows, H, Lq, Lk) in float32, empty for no windows.
std::tuple<Tensor, Tensor> attention_weights_backward_cpu(const Tensor& grad, const Tensor& weights, int64_t windows,
                                                          double scale) {
  check_fused_on_cpu("attention_weights", fused_on(weights));
  check_gradient(grad, weights, windows);
  const Tensor g = grad.contiguous(), p = weights.contiguous();
  const int64_t heads = p.size(1), queries = p.size(2), keys = p.size(3), pairs = queries * keys;
  const Tensor d_scores = at::empty(p.sizes(), p.options());
  const Tensor d_bias = at::zeros({windows, heads, queries, keys}, p.options().dtype(at::kFloat));
  // All samples with one bias belong to one task, so that its gradient is summed up in their order.
  const int64_t tasks = windows > 0 ? windows * heads : p.size(0) * heads;
  const int64_t samples = tasks == 0 ? 0 : p.size(0) * heads / tasks;
  for_type_of(p, [&]<class T>(T*) {
    parallel(tasks, samples * pairs, [&](int64_t from, int64_t to) {
      for (int64_t task = from; task < to; ++task)
        for (int64_t sample = 0; sample < samples; ++sample) {
          const int64_t at = (sample * tasks + task) * pairs;
          kernels::softmax_rows_backward(
              data<T>(p) + at, data<T>(g) + at, static_cast<float>(scale), mutable_data<T>(d_scores) + at,
              windows > 0 ? mutable_data<float>(d_bias) + task * pairs : nullptr, {queries, keys});
        }
    });
  });
  return {d_scores, d_bias};
}

// --- shapes ----------------------------------------------------------------------------------------------------------

Tensor attention_weights_meta(const Tensor& scores, const OptionalTensor& bias, double) {
  check_attention_weights(scores, bias);
  return empty_as(scores);
}

std::tuple<Tensor, Tensor> attention_weights_backward_meta(const Tensor& grad, const Tensor& weights,
                                                           c10::SymInt windows, double) {
  check_gradient(grad, weights, windows);
  return {empty_as(weights), at::empty_symint({windows, weights.sym_size(1), weights.sym_size(2), weights.sym_size(3)},
                                              weights.options().dtype(at::kFloat))};
}

// --- gradient --------------------------------------------------------------------------------------------------------

Tensor call_weights(const Tensor& scores, const OptionalTensor& bias, double scale) {
  static const auto op = operator_handle<decltype(attention_weights)>("cachet::attention_weights");
  return op.call(scores, bias, scale);
}

struct AttentionWeights : torch::autograd::Function<AttentionWeights> {
  static Tensor forward(torch::autograd::AutogradContext* ctx, const Tensor& scores, const OptionalTensor& bias,
                        double scale) {
    at::AutoDispatchBelowADInplaceOrView below;
    const Tensor weights = call_weights(scores, bias, scale);
    ctx->save_for_backward({weights});
    ctx->saved_data["scale"] = scale;
    ctx->saved_data["bias"] = bias ? bias->sym_sizes().vec() : std::vector<c10::SymInt>();
    ctx->saved_data["dtype"] = static_cast<int64_t>(bias ? bias->scalar_type() : at::kFloat);
    return weights;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list grads) {
    static const auto op =
        operator_handle<decltype(attention_weights_backward_meta)>("cachet::attention_weights_backward");
    const auto shape = ctx->saved_data["bias"].toSymIntVector();
    const bool wanted = !shape.empty() && ctx->needs_input_grad(1);
    const auto [d_scores, d_bias] = op.call(grads[0], ctx->get_saved_variables()[0], wanted ? shape[0] : c10::SymInt(0),
                                            ctx->saved_data["scale"].toDouble());
    Tensor of_bias;
    if (wanted)
      of_bias = d_bias.sum_to_size_symint(shape).to(static_cast<at::ScalarType>(ctx->saved_data["dtype"].toInt()));
    return {d_scores, of_bias, Tensor()};
  }
};

Tensor attention_weights_autograd(const Tensor& scores, const OptionalTensor& bias, double scale) {
  if (fused_on(scores, "attention_weights") == FusedOn::none) return attention_weights_composite(scores, bias, scale);
  return AttentionWeights::apply(scores, bias, scale);
}

}  // namespace

Tensor attention_weights(const Tensor& scores, const OptionalTensor& bias, double scale) {
  return call_weights(scores, bias, scale);
}

TORCH_LIBRARY_FRAGMENT(cachet, m) {
  Operator(m, "attention_weights(Tensor scores, Tensor? bias, float scale) -> Tensor")
      .composite(attention_weights_composite)
      .cpu(attention_weights_cpu)
      .meta(attention_weights_meta)
      .autograd(attention_weights_autograd);
  Operator(m,
           "attention_weights_backward(Tensor grad, Tensor weights, SymInt windows, float scale) -> (Tensor, Tensor)")
      .cpu(attention_weights_backward_cpu)
      .meta(attention_weights_backward_meta)
      .without_gradient("attention_weights", kFusedOnce);
}

}  // namespace cachet::ops
