#include "cachet/ops/kernel_attention.h"

#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <tuple>

#include "cachet/ops/device_check.h"
#include "cachet/ops/dispatch.h"
#include "cachet/ops/fused.h"
#include "cachet/ops/kernel_attention_checks.h"
#include "cachet/ops/kernel_attention_composite.h"
#include "cachet/ops/kernel_attention_fused.h"
#include "cachet/ops/registration.h"
#include "cachet/ops/shapes.h"

namespace cachet::ops {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;

Tensor kernel_features_checked(const Tensor& x, at::TensorList weights, at::IntArrayRef units) {
  check_feature_map("kernel_features", x, weights, units);
  return kernel_features_composite(x, weights, units);
}

// --- fused, CPU ------------------------------------------------------------------------------------------------------

FusedOn attention_fused_on(const Tensor& q, const Tensor& k, at::IntArrayRef units, bool causal) {
  // Elu + 1 has no product: the fused form takes it alone.
  const auto elu = static_cast<int64_t>(FeatureUnit::elu_plus_one);
  const bool mixed = units.size() > 1 && std::find(units.begin(), units.end(), elu) != units.end();
  const FusedOn fused = fused_on(q, "kernel_attention_fused");
  if (fused == FusedOn::none || mixed) return FusedOn::none;
  return !causal || q.sym_size(2) == k.sym_size(2) ? fused : FusedOn::none;
}

KernelAttentionCall call_of(const Tensor& q, const Tensor& k, const Tensor& v, at::TensorList weights,
                            at::IntArrayRef units, const OptionalTensor& padding, bool causal, double eps,
                            double key_eps) {
  // Kernels read rows: their last dimension lies dense, whatever is before it.
  const auto dense = [](const Tensor& x) { return x.stride(-1) == 1 || x.size(-1) <= 1 ? x : x.contiguous(); };
  return {dense(q), dense(k), dense(v), weights.vec(), units.vec(), padding ? padding->contiguous() : Tensor(),
          causal,   eps,      key_eps};
}

// The fused form reads a context and a padding of each sample's own. Returns the width of φ(q).
c10::SymInt check_fused(const char* op, const Tensor& q, const Tensor& k, const Tensor& v, at::TensorList weights,
                        at::IntArrayRef units, const OptionalTensor& padding) {
  const auto features = check_kernel_attention(q, k, v, weights, units, padding);
  const auto batch = q.sym_size(0);
  TORCH_CHECK(same_size(k.sym_size(0), batch), op, ": q has a batch of ", batch, ", k of ", k.sym_size(0));
  TORCH_CHECK(!padding || same_size(padding->sym_size(0), batch), op, ": q has a batch of ", batch, ", padding of ",
              padding->sym_size(0));
  return features;
}

// y, the states and the divisors.
using Fused = std::tuple<Tensor, Tensor, Tensor>;

Fused kernel_attention_fused(const Tensor& q, const Tensor& k, const Tensor& v, at::TensorList weights,
                             at::IntArrayRef units, const OptionalTensor& padding, bool causal, double eps,
                             double key_eps) {
  TORCH_CHECK(attention_fused_on(q, k, units, causal) == FusedOn::cpu,
              "kernel_attention_fused: serves float32 and bfloat16 on the CPU; call kernel_attention");
  check_fused("kernel_attention_fused", q, k, v, weights, units, padding);
  const auto [y, states, divisors] =
      kernel_attention_forward(call_of(q, k, v, weights, units, padding, causal, eps, key_eps));
  return {y, states, divisors};
}

void check_fused_gradient(const Tensor& grad, const Tensor& q, const Tensor& k, const Tensor& v, at::TensorList weights,
                          at::IntArrayRef units, const OptionalTensor& padding, bool causal, const Tensor& output,
                          const Tensor& states, const Tensor& divisors) {
  constexpr const char* op = "kernel_attention_fused_backward";
  const auto features = check_fused(op, q, k, v, weights, units, padding);
  const c10::SymDimVector attended{q.sym_size(0), q.sym_size(1), q.sym_size(2), v.sym_size(3)};
  check_shape(op, "grad", grad, attended, q);
  check_shape(op, "output", output, attended, q);
  check_shape(op, "states", states, sizes_of_states(q, v, causal, features), q, at::kFloat);
  check_shape(op, "divisors", divisors, q.sym_sizes().slice(0, 3), q, at::kFloat);
}

// Gradients of q, k, v and the weights.
std::vector<Tensor> kernel_attention_fused_backward(const Tensor& grad, const Tensor& q, const Tensor& k,
                                                    const Tensor& v, at::TensorList weights, at::IntArrayRef units,
                                                    const OptionalTensor& padding, bool causal, double eps,
                                                    double key_eps, const Tensor& output, const Tensor& states,
                                                    const Tensor& divisors) {
  check_fused_on_cpu("kernel_attention_fused", attention_fused_on(q, k, units, causal));
  check_fused_gradient(grad, q, k, v, weights, units, padding, causal, output, states, divisors);
  const auto gradients = kernel_attention_backward(call_of(q, k, v, weights, units, padding, causal, eps, key_eps),
                                                   grad, {output, states, divisors});
  std::vector<Tensor> all{gradients.q, gradients.k, gradients.v};
  all.insert(all.end(), gradients.weights.begin(), gradients.weights.end());
  return all;
}

Fused kernel_attention_fused_meta(const Tensor& q, const Tensor& k, const Tensor& v, at::TensorList weights,
                                  at::IntArrayRef units, const OptionalTensor& padding, bool causal, double, double) {
  const auto features = check_fused("kernel_attention_fused", q, k, v, weights, units, padding);
  const auto floats = q.options().dtype(at::kFloat);
  return {empty_side_by_side(q, q.sym_size(2), v.sym_size(3)),
          at::empty_symint(sizes_of_states(q, v, causal, features), floats),
          at::empty_symint(q.sym_sizes().slice(0, 3), floats)};
}

std::vector<Tensor> kernel_attention_fused_backward_meta(const Tensor& grad, const Tensor& q, const Tensor& k,
                                                         const Tensor& v, at::TensorList weights, at::IntArrayRef units,
                                                         const OptionalTensor& padding, bool causal, double, double,
                                                         const Tensor& output, const Tensor& states,
                                                         const Tensor& divisors) {
  check_fused_gradient(grad, q, k, v, weights, units, padding, causal, output, states, divisors);
  std::vector<Tensor> all;
  for (const Tensor& x : {q, k, v}) all.push_back(empty_side_by_side(x, x.sym_size(2), x.sym_size(3)));
  for (const Tensor& weight : weights) all.push_back(empty_as(weight));
  return all;
}

// The heads of a token side by side in memory, as the fused form writes them.
Tensor side_by_side(const Tensor& y) { return y.transpose(1, 2).contiguous().transpose(1, 2); }

// The form that fits the operands.
Tensor kernel_attention_any(const Tensor& q, const Tensor& k, const Tensor& v, at::TensorList weights,
                            at::IntArrayRef units, const OptionalTensor& padding, bool causal, double eps,
                            double key_eps) {
  check_kernel_attention(q, k, v, weights, units, padding);
  if (attention_fused_on(q, k, units, causal) != FusedOn::none) {
    static const auto op = operator_handle<decltype(kernel_attention_fused)>("cachet::kernel_attention_fused");
    // One context for all samples is read by each of them.
    const auto own = [&](const Tensor& x) { return x.expand_symint({q.sym_size(0), -1, -1, -1}); };
    const OptionalTensor mask =
        padding ? OptionalTensor(padding->expand_symint({q.sym_size(0), -1}).contiguous()) : std::nullopt;
    return std::get<0>(op.call(q, own(k), own(v), weights, units, mask, causal, eps, key_eps));
  }
  return side_by_side(kernel_attention_composite(q, k, v, weights, units, padding, causal, eps, key_eps, {}).output);
}

std::tuple<Tensor, Tensor> kernel_attention_stream_any(const Tensor& q, const Tensor& k, const Tensor& v,
                                                       at::TensorList weights, at::IntArrayRef units,
                                                       const OptionalTensor& sums, const OptionalTensor& padding,
                                                       bool causal, double eps) {
  const auto features = check_kernel_attention(q, k, v, weights, units, padding);
  const bool fits = !sums || (sums->dim() == 4 && same_size(sums->sym_size(0), k.sym_size(0)) &&
                              same_size(sums->sym_size(1), k.sym_size(1)) && same_size(sums->sym_size(2), features) &&
                              same_size(sums->sym_size(3), v.sym_size(3) + 1));
  TORCH_CHECK(fits, "kernel_attention_stream: sums must be (B, H, m, e + 1) = (", k.sym_size(0), ", ", k.sym_size(1),
              ", ", features, ", ", v.sym_size(3) + 1, "), got ", sums->sym_sizes());
  auto [output, after] = kernel_attention_composite(q, k, v, weights, units, padding, causal, eps, /*key_eps=*/0.0,
                                                    sums.value_or(Tensor()));
  return {output, after};
}

// --- gradient of the fused form --------------------------------------------------------------------------------------

struct FusedFunction : torch::autograd::Function<FusedFunction> {
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* ctx, const Tensor& q, const Tensor& k,
                                                const Tensor& v, at::TensorList weights,
                                                const std::vector<int64_t>& units, const OptionalTensor& padding,
                                                bool causal, double eps, double key_eps) {
    static const auto op = operator_handle<decltype(kernel_attention_fused)>("cachet::kernel_attention_fused");
    at::AutoDispatchBelowADInplaceOrView below;
    const auto [y, states, divisors] = op.call(q, k, v, weights, units, padding, causal, eps, key_eps);
    torch::autograd::variable_list saved{q, k, v, padding.value_or(Tensor()), y, states, divisors};
    saved.insert(saved.end(), weights.begin(), weights.end());
    ctx->save_for_backward(saved);
    ctx->saved_data["units"] = units;
    ctx->saved_data["causal"] = causal;
    ctx->saved_data["eps"] = eps;
    ctx->saved_data["key_eps"] = key_eps;
    ctx->mark_non_differentiable({states, divisors});
    ctx->set_materialize_grads(false);  // of the states nobody has one
    return {y, states, divisors};
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list grads) {
    static const auto op =
        operator_handle<decltype(kernel_attention_fused_backward)>("cachet::kernel_attention_fused_backward");
    const auto saved = ctx->get_saved_variables();
    const std::vector<Tensor> weights(saved.begin() + 7, saved.end());
    if (!grads[0].defined()) return torch::autograd::variable_list(weights.size() + 8);
    const OptionalTensor padding = saved[3].defined() ? OptionalTensor(saved[3]) : std::nullopt;
    std::vector<Tensor> gradients =
        op.call(grads[0], saved[0], saved[1], saved[2], weights, ctx->saved_data["units"].toIntVector(), padding,
                ctx->saved_data["causal"].toBool(), ctx->saved_data["eps"].toDouble(),
                ctx->saved_data["key_eps"].toDouble(), saved[4], saved[5], saved[6]);
    gradients.resize(gradients.size() + 5);  // units, padding, causal, eps, key_eps
    return gradients;
  }
};

Fused kernel_attention_fused_autograd(const Tensor& q, const Tensor& k, const Tensor& v, at::TensorList weights,
                                      at::IntArrayRef units, const OptionalTensor& padding, bool causal, double eps,
                                      double key_eps) {
  const auto out = FusedFunction::apply(q, k, v, weights, units.vec(), padding, causal, eps, key_eps);
  return {out[0], out[1], out[2]};
}

std::vector<int64_t> numbers(const FeatureMap& map) {
  std::vector<int64_t> units;
  for (const FeatureUnit unit : map.units) units.push_back(static_cast<int64_t>(unit));
  return units;
}

Tensor call_features(const Tensor& x, at::TensorList weights, at::IntArrayRef units) {
  static const auto op = operator_handle<decltype(kernel_features_checked)>("cachet::kernel_features");
  return op.call(x, weights, units);
}

Tensor call_attention(const Tensor& q, const Tensor& k, const Tensor& v, at::TensorList weights, at::IntArrayRef units,
                      const OptionalTensor& padding, bool causal, double eps, double key_eps) {
  static const auto op = operator_handle<decltype(kernel_attention_any)>("cachet::kernel_attention");
  return op.call(q, k, v, weights, units, padding, causal, eps, key_eps);
}

std::tuple<Tensor, Tensor> call_stream(const Tensor& q, const Tensor& k, const Tensor& v, at::TensorList weights,
                                       at::IntArrayRef units, const OptionalTensor& sums, const OptionalTensor& padding,
                                       bool causal, double eps) {
  static const auto op = operator_handle<decltype(kernel_attention_stream_any)>("cachet::kernel_attention_stream");
  return op.call(q, k, v, weights, units, sums, padding, causal, eps);
}

}  // namespace

Tensor kernel_features(const Tensor& x, const FeatureMap& map) { return call_features(x, map.weights, numbers(map)); }

Tensor kernel_attention(const Tensor& q, const Tensor& k, const Tensor& v, const FeatureMap& map,
                        const OptionalTensor& padding, bool causal, double eps, double key_eps) {
  return call_attention(q, k, v, map.weights, numbers(map), padding, causal, eps, key_eps);
}

Tensor kernel_attention_stream(const Tensor& q, const Tensor& k, const Tensor& v, const FeatureMap& map,
                               const OptionalTensor& padding, bool causal, double eps, Tensor& sums) {
  const OptionalTensor before = sums.defined() ? OptionalTensor(sums) : std::nullopt;
  auto [output, after] = call_stream(q, k, v, map.weights, numbers(map), before, padding, causal, eps);
  sums = after;
  return output;
}

TORCH_LIBRARY_FRAGMENT(cachet, m) {
  Operator(m, "kernel_features(Tensor x, Tensor[] weights, int[] units) -> Tensor")
      .differentiable_composite(kernel_features_checked)
      .autocast<call_features, 0, 1>();
  Operator(m,
           "kernel_attention(Tensor q, Tensor k, Tensor v, Tensor[] weights, int[] units, Tensor? padding=None, "
           "bool causal=False, float eps=0.0, float key_eps=0.0) -> Tensor")
      .differentiable_composite(kernel_attention_any)
      .autocast<call_attention, 0, 1, 2, 3>();
  Operator(m,
           "kernel_attention_stream(Tensor q, Tensor k, Tensor v, Tensor[] weights, int[] units, Tensor? sums=None, "
           "Tensor? padding=None, bool causal=False, float eps=0.0) -> (Tensor, Tensor)")
      .differentiable_composite(kernel_attention_stream_any)
      .autocast<call_stream, 0, 1, 2, 3>();
  // The form that kernel_attention takes on the CPU, and the sums that its backward pass reads.
  Operator(m,
           "kernel_attention_fused(Tensor q, Tensor k, Tensor v, Tensor[] weights, int[] units, Tensor? padding, "
           "bool causal, float eps, float key_eps=0.0) -> (Tensor, Tensor, Tensor)")
      .cpu(kernel_attention_fused)
      .meta(kernel_attention_fused_meta)
      .autograd(kernel_attention_fused_autograd);
  Operator(m,
           "kernel_attention_fused_backward(Tensor grad, Tensor q, Tensor k, Tensor v, Tensor[] weights, int[] units, "
           "Tensor? padding, bool causal, float eps, float key_eps, Tensor output, Tensor states, Tensor divisors) -> "
           "Tensor[]")
      .cpu(kernel_attention_fused_backward)
      .meta(kernel_attention_fused_backward_meta)
      .without_gradient("kernel_attention", kFusedOnce);
}

}  // namespace cachet::ops
