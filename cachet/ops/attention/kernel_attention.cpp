#include "cachet/ops/attention/kernel_attention.h"

#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <tuple>

#include "cachet/ops/attention/kernel_attention_checks.h"
#include "cachet/ops/attention/kernel_attention_composite.h"
#include "cachet/ops/attention/kernel_attention_cpu.h"
#include "cachet/ops/support/call.h"
#include "cachet/ops/support/device_check.h"
#include "cachet/ops/support/fused.h"
#include "cachet/ops/support/operator_handle.h"
#include "cachet/ops/support/optional_tensor.h"
#include "cachet/ops/support/registration.h"
#include "cachet/ops/support/shapes.h"

namespace cachet::ops {
namespace {

using at::Tensor;

Tensor kernel_features_checked(const Tensor& x, at::TensorList weights, at::IntArrayRef units) {
  check_feature_map("kernel_features", x, weights, units);
  return kernel_features_composite(x, weights, units);
}

// --- CPU -------------------------------------------------------------------------------------------------------------

FusedOn attention_fused_on(const KernelAttentionOperands& call) {
  // Elu + 1 has no product: the fused form takes it alone.
  const auto elu = static_cast<int64_t>(FeatureUnit::elu_plus_one);
  const bool mixed = call.units.size() > 1 && std::find(call.units.begin(), call.units.end(), elu) != call.units.end();
  const FusedOn fused = fused_on(call.q, "kernel_attention_fused");
  if (fused == FusedOn::none || mixed) return FusedOn::none;
  return !call.causal || call.q.sym_size(2) == call.k.sym_size(2) ? fused : FusedOn::none;
}

// As the kernels read the operands.
KernelAttentionCall call_of(const KernelAttentionOperands& call) {
  // Kernels read rows: their last dimension lies dense, whatever is before it.
  const auto dense = [](const Tensor& x) { return x.stride(-1) == 1 || x.size(-1) <= 1 ? x : x.contiguous(); };
  return {dense(call.q),      dense(call.k),    dense(call.v),
          call.weights.vec(), call.units.vec(), call.padding ? call.padding->contiguous() : Tensor(),
          call.causal,        call.eps,         call.key_eps};
}

// The fused form reads a context and a padding of each sample's own. Returns the width of φ(q).
c10::SymInt check_fused(const char* op, const KernelAttentionOperands& call) {
  const auto features = check_kernel_attention(call);
  const auto batch = call.q.sym_size(0);
  TORCH_CHECK(same_size(call.k.sym_size(0), batch), op, ": q and k must have the same batch, but q has ", batch,
              " and k has ", call.k.sym_size(0));
  TORCH_CHECK(!call.padding || same_size(call.padding->sym_size(0), batch), op,
              ": q and padding must have the same batch, but q has ", batch, " and padding has ",
              call.padding->sym_size(0));
  return features;
}

// y, the states and the divisors.
using Fused = std::tuple<Tensor, Tensor, Tensor>;
using FusedForms = Listed<KernelAttentionOperands, Fused(const Tensor&, const Tensor&, const Tensor&, at::TensorList,
                                                         at::IntArrayRef, const OptionalTensor&, bool, double, double)>;

Fused kernel_attention_fused(const KernelAttentionOperands& call) {
  TORCH_CHECK(attention_fused_on(call) == FusedOn::cpu,
              "kernel_attention_fused: supports only float32 and bfloat16 on the CPU; call kernel_attention");
  check_fused("kernel_attention_fused", call);
  const auto [y, states, divisors] = kernel_attention_forward(call_of(call));
  return {y, states, divisors};
}

struct FusedGradientOperands {
  Tensor grad, q, k, v;
  at::TensorList weights;
  at::IntArrayRef units;
  OptionalTensor padding;
  bool causal;
  double eps, key_eps;
  Tensor output, states, divisors;

  KernelAttentionOperands forward() const { return {q, k, v, weights, units, padding, causal, eps, key_eps}; }
};

// Gradients of q, k, v and the weights.
using FusedGradientForms =
    Listed<FusedGradientOperands, std::vector<Tensor>(const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                                                      at::TensorList, at::IntArrayRef, const OptionalTensor&, bool,
                                                      double, double, const Tensor&, const Tensor&, const Tensor&)>;

void check_fused_gradient(const FusedGradientOperands& call) {
  constexpr const char* op = "kernel_attention_fused_backward";
  const Tensor &q = call.q, &v = call.v;
  const auto features = check_fused(op, call.forward());
  const c10::SymDimVector attended{q.sym_size(0), q.sym_size(1), q.sym_size(2), v.sym_size(3)};
  check_shape(op, "grad", call.grad, attended, q);
  check_shape(op, "output", call.output, attended, q);
  check_shape(op, "states", call.states, sizes_of_states(q, v, call.causal, features), q, at::kFloat);
  check_shape(op, "divisors", call.divisors, q.sym_sizes().slice(0, 3), q, at::kFloat);
}

std::vector<Tensor> kernel_attention_fused_backward(const FusedGradientOperands& call) {
  check_fused_on_cpu("kernel_attention_fused", attention_fused_on(call.forward()));
  check_fused_gradient(call);
  const auto gradients =
      kernel_attention_backward(call_of(call.forward()), call.grad, {call.output, call.states, call.divisors});
  std::vector<Tensor> all{gradients.q, gradients.k, gradients.v};
  all.insert(all.end(), gradients.weights.begin(), gradients.weights.end());
  return all;
}

Fused kernel_attention_fused_meta(const KernelAttentionOperands& call) {
  const Tensor &q = call.q, &v = call.v;
  const auto features = check_fused("kernel_attention_fused", call);
  const auto floats = q.options().dtype(at::kFloat);
  return {empty_side_by_side(q, q.sym_size(2), v.sym_size(3)),
          at::empty_symint(sizes_of_states(q, v, call.causal, features), floats),
          at::empty_symint(q.sym_sizes().slice(0, 3), floats)};
}

std::vector<Tensor> kernel_attention_fused_backward_meta(const FusedGradientOperands& call) {
  check_fused_gradient(call);
  std::vector<Tensor> all;
  for (const Tensor& x : {call.q, call.k, call.v}) all.push_back(empty_side_by_side(x, x.sym_size(2), x.sym_size(3)));
  for (const Tensor& weight : call.weights) all.push_back(empty_as(weight));
  return all;
}

Fused call_fused(const KernelAttentionOperands& call) {
  static const auto op = operator_handle<FusedForms::Signature>("cachet::kernel_attention_fused");
  return FusedForms::call(op, call);
}

// The heads of a token side by side in memory, as the fused form writes them.
Tensor side_by_side(const Tensor& y) { return y.transpose(1, 2).contiguous().transpose(1, 2); }

// The form that fits the operands.
Tensor kernel_attention_any(const KernelAttentionOperands& call) {
  check_kernel_attention(call);
  if (attention_fused_on(call) == FusedOn::none) return side_by_side(kernel_attention_composite(call, {}).output);
  // One context for all samples is read by each of them.
  const auto batch = call.q.sym_size(0);
  const auto own = [&](const Tensor& x) { return x.expand_symint({batch, -1, -1, -1}); };
  KernelAttentionOperands expanded = call;
  expanded.k = own(call.k), expanded.v = own(call.v);
  if (call.padding) expanded.padding = call.padding->expand_symint({batch, -1}).contiguous();
  return std::get<0>(call_fused(expanded));
}

std::tuple<Tensor, Tensor> kernel_attention_stream_any(const Tensor& q, const Tensor& k, const Tensor& v,
                                                       at::TensorList weights, at::IntArrayRef units,
                                                       const OptionalTensor& sums, const OptionalTensor& padding,
                                                       bool causal, double eps) {
  const KernelAttentionOperands call{q, k, v, weights, units, padding, causal, eps, /*key_eps=*/0.0};
  const auto features = check_kernel_attention(call);
  const bool fits = !sums || (sums->dim() == 4 && same_size(sums->sym_size(0), k.sym_size(0)) &&
                              same_size(sums->sym_size(1), k.sym_size(1)) && same_size(sums->sym_size(2), features) &&
                              same_size(sums->sym_size(3), v.sym_size(3) + 1));
  TORCH_CHECK(fits, "kernel_attention_stream: sums must be (B, H, m, e + 1) = (", k.sym_size(0), ", ", k.sym_size(1),
              ", ", features, ", ", v.sym_size(3) + 1, "), got ", sums->sym_sizes());
  auto [output, after] = kernel_attention_composite(call, sums);
  return {output, after};
}

// --- gradient of the fused form --------------------------------------------------------------------------------------

struct FusedFunction : torch::autograd::Function<FusedFunction> {
  template <class... Operands>
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* ctx, const Operands&... operands) {
    at::AutoDispatchBelowADInplaceOrView below;
    const KernelAttentionOperands call{operands...};
    const auto [y, states, divisors] = call_fused(call);
    torch::autograd::variable_list saved{call.q, call.k, call.v, or_undefined(call.padding), y, states, divisors};
    saved.insert(saved.end(), call.weights.begin(), call.weights.end());
    ctx->save_for_backward(saved);
    ctx->saved_data["units"] = call.units.vec();
    ctx->saved_data["causal"] = call.causal;
    ctx->saved_data["eps"] = call.eps;
    ctx->saved_data["key_eps"] = call.key_eps;
    ctx->mark_non_differentiable({states, divisors});
    ctx->set_materialize_grads(false);  // of the states nobody has one
    return {y, states, divisors};
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list grads) {
    static const auto op = operator_handle<FusedGradientForms::Signature>("cachet::kernel_attention_fused_backward");
    const auto saved = ctx->get_saved_variables();
    const std::vector<Tensor> weights(saved.begin() + 7, saved.end());
    if (!grads[0].defined()) return torch::autograd::variable_list(weights.size() + 8);
    std::vector<Tensor> gradients =
        op.call(grads[0], saved[0], saved[1], saved[2], weights, ctx->saved_data["units"].toIntVector(),
                as_optional(saved[3]), ctx->saved_data["causal"].toBool(), ctx->saved_data["eps"].toDouble(),
                ctx->saved_data["key_eps"].toDouble(), saved[4], saved[5], saved[6]);
    gradients.resize(gradients.size() + 5);  // units, padding, causal, eps, key_eps
    return gradients;
  }
};

Fused kernel_attention_fused_autograd(const KernelAttentionOperands& call) {
  const auto out = call.list([](const auto&... operands) { return FusedFunction::apply(operands...); });
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

using AttentionForms =
    Listed<KernelAttentionOperands, Tensor(const Tensor&, const Tensor&, const Tensor&, at::TensorList, at::IntArrayRef,
                                           const OptionalTensor&, bool, double, double)>;

Tensor call_attention(const KernelAttentionOperands& call) {
  static const auto op = operator_handle<AttentionForms::Signature>("cachet::kernel_attention");
  return AttentionForms::call(op, call);
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
  const std::vector<int64_t> units = numbers(map);
  return call_attention({q, k, v, map.weights, units, padding, causal, eps, key_eps});
}

Tensor kernel_attention_stream(const Tensor& q, const Tensor& k, const Tensor& v, const FeatureMap& map,
                               const OptionalTensor& padding, bool causal, double eps, Tensor& sums) {
  auto [output, after] = call_stream(q, k, v, map.weights, numbers(map), as_optional(sums), padding, causal, eps);
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
      .differentiable_composite(AttentionForms::form<kernel_attention_any>)
      .autocast<&AttentionForms::form<call_attention>, 0, 1, 2, 3>();
  Operator(m,
           "kernel_attention_stream(Tensor q, Tensor k, Tensor v, Tensor[] weights, int[] units, Tensor? sums=None, "
           "Tensor? padding=None, bool causal=False, float eps=0.0) -> (Tensor, Tensor)")
      .differentiable_composite(kernel_attention_stream_any)
      .autocast<call_stream, 0, 1, 2, 3>();
  // The form that kernel_attention takes on the CPU, and the sums that its backward pass reads.
  Operator(m,
           "kernel_attention_fused(Tensor q, Tensor k, Tensor v, Tensor[] weights, int[] units, Tensor? padding, "
           "bool causal, float eps, float key_eps=0.0) -> (Tensor, Tensor, Tensor)")
      .cpu(FusedForms::form<kernel_attention_fused>)
      .meta(FusedForms::form<kernel_attention_fused_meta>)
      .autograd(FusedForms::form<kernel_attention_fused_autograd>);
  Operator(m,
           "kernel_attention_fused_backward(Tensor grad, Tensor q, Tensor k, Tensor v, Tensor[] weights, int[] units, "
           "Tensor? padding, bool causal, float eps, float key_eps, Tensor output, Tensor states, Tensor divisors) -> "
           "Tensor[]")
      .cpu(FusedGradientForms::form<kernel_attention_fused_backward>)
      .meta(FusedGradientForms::form<kernel_attention_fused_backward_meta>)
      .without_gradient("kernel_attention", kFusedOnce);
}

}  // namespace cachet::ops
