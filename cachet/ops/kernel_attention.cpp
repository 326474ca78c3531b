#include "cachet/ops/kernel_attention.h"

#include <ATen/autocast_mode.h>
#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <algorithm>
#include <tuple>

#include "cachet/ops/dispatch.h"
#include "cachet/ops/fused.h"
#include "cachet/ops/kernel_attention_checks.h"
#include "cachet/ops/kernel_attention_composite.h"
#include "cachet/ops/kernel_attention_fused.h"

namespace cachet::ops {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;

Tensor kernel_features_checked(const Tensor& x, at::TensorList weights, at::IntArrayRef units) {
  check_feature_map("kernel_features", x, weights, units);
  return kernel_features_composite(x, weights, units);
}

// --- fused, CPU ------------------------------------------------------------------------------------------------------

bool fuses(const Tensor& q, const Tensor& k, at::IntArrayRef units, bool causal) {
  // Elu + 1 has no product: the fused form takes it alone.
  const auto elu = static_cast<int64_t>(FeatureUnit::elu_plus_one);
  const bool mixed = units.size() > 1 && std::find(units.begin(), units.end(), elu) != units.end();
  return may_fuse(q) && !mixed && (!causal || q.size(2) == k.size(2));
}

KernelAttentionCall call_of(const Tensor& q, const Tensor& k, const Tensor& v, at::TensorList weights,
                            at::IntArrayRef units, const OptionalTensor& padding, bool causal, double eps,
                            double key_eps) {
  // Kernels read rows: their last dimension lies dense, whatever is before it.
  const auto dense = [](const Tensor& x) { return x.stride(-1) == 1 || x.size(-1) <= 1 ? x : x.contiguous(); };
  return {dense(q), dense(k), dense(v), weights.vec(), units.vec(), padding ? padding->contiguous() : Tensor(),
          causal,   eps,      key_eps};
}

// y, the states and the divisors.
using Fused = std::tuple<Tensor, Tensor, Tensor>;

Fused kernel_attention_fused(const Tensor& q, const Tensor& k, const Tensor& v, at::TensorList weights,
                             at::IntArrayRef units, const OptionalTensor& padding, bool causal, double eps,
                             double key_eps) {
  TORCH_CHECK(fuses(q, k, units, causal),
              "kernel_attention_fused: serves float32 and bfloat16 on the CPU; call kernel_attention");
  const auto [y, states, divisors] =
      kernel_attention_forward(call_of(q, k, v, weights, units, padding, causal, eps, key_eps));
  return {y, states, divisors};
}

// Gradients of q, k, v and the weights.
std::vector<Tensor> kernel_attention_fused_backward(const Tensor& grad, const Tensor& q, const Tensor& k,
                                                    const Tensor& v, at::TensorList weights, at::IntArrayRef units,
                                                    const OptionalTensor& padding, bool causal, double eps,
                                                    double key_eps, const Tensor& output, const Tensor& states,
                                                    const Tensor& divisors) {
  const auto gradients = kernel_attention_backward(call_of(q, k, v, weights, units, padding, causal, eps, key_eps),
                                                   grad, {output, states, divisors});
  std::vector<Tensor> all{gradients.q, gradients.k, gradients.v};
  all.insert(all.end(), gradients.weights.begin(), gradients.weights.end());
  return all;
}

Tensor empty_side_by_side(const Tensor& x) {
  return at::empty({x.size(0), x.size(2), x.size(1), x.size(3)}, x.options()).transpose(1, 2);
}

Fused kernel_attention_fused_meta(const Tensor& q, const Tensor& k, const Tensor& v, at::TensorList weights,
                                  at::IntArrayRef units, const OptionalTensor&, bool causal, double eps,
                                  double key_eps) {
  const KernelAttentionCall call{q, k, v, weights.vec(), units.vec(), {}, causal, eps, key_eps};
  return {at::empty({q.size(0), q.size(2), q.size(1), v.size(3)}, q.options()).transpose(1, 2),
          at::empty({q.size(0), q.size(1), call.stored_states(), v.size(3) + 1, call.features()},
                    q.options().dtype(at::kFloat)),
          at::empty({q.size(0), q.size(1), q.size(2)}, q.options().dtype(at::kFloat))};
}

std::vector<Tensor> kernel_attention_fused_backward_meta(const Tensor&, const Tensor& q, const Tensor& k,
                                                         const Tensor& v, at::TensorList weights, at::IntArrayRef,
                                                         const OptionalTensor&, bool, double, double, const Tensor&,
                                                         const Tensor&, const Tensor&) {
  std::vector<Tensor> all{empty_side_by_side(q), empty_side_by_side(k), empty_side_by_side(v)};
  for (const Tensor& weight : weights) all.push_back(at::empty(weight.sizes(), weight.options()));
  return all;
}

// The heads of a token side by side in memory, as the fused form writes them.
Tensor side_by_side(const Tensor& y) { return y.transpose(1, 2).contiguous().transpose(1, 2); }

// The form that fits the operands.
Tensor kernel_attention_any(const Tensor& q, const Tensor& k, const Tensor& v, at::TensorList weights,
                            at::IntArrayRef units, const OptionalTensor& padding, bool causal, double eps,
                            double key_eps) {
  check_kernel_attention(q, k, v, weights, units, padding);
  if (fuses(q, k, units, causal)) {
    static const auto op = operator_handle<decltype(kernel_attention_fused)>("cachet::kernel_attention_fused");
    // One context for all samples is read by each of them.
    const auto own = [&](const Tensor& x) { return x.expand({q.size(0), -1, -1, -1}); };
    const OptionalTensor mask =
        padding ? OptionalTensor(padding->expand({q.size(0), padding->size(1)}).contiguous()) : std::nullopt;
    return std::get<0>(op.call(q, own(k), own(v), weights, units, mask, causal, eps, key_eps));
  }
  return side_by_side(kernel_attention_composite(q, k, v, weights, units, padding, causal, eps, key_eps, {}).output);
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
    return {y, states, divisors};
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list grads) {
    static const auto op =
        operator_handle<decltype(kernel_attention_fused_backward)>("cachet::kernel_attention_fused_backward");
    const auto saved = ctx->get_saved_variables();
    const std::vector<Tensor> weights(saved.begin() + 7, saved.end());
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

// --- autocast --------------------------------------------------------------------------------------------------------

template <c10::DeviceType device>
std::vector<Tensor> narrow_all(at::TensorList tensors) {
  const auto dtype = at::autocast::get_autocast_dtype(device);
  std::vector<Tensor> narrow;
  for (const Tensor& tensor : tensors) narrow.push_back(at::autocast::cached_cast(dtype, tensor, device));
  return narrow;
}

template <c10::DeviceType device, c10::DispatchKey autocast>
Tensor kernel_features_autocast(const Tensor& x, at::TensorList weights, at::IntArrayRef units) {
  c10::impl::ExcludeDispatchKeyGuard no_autocast(autocast);
  static const auto op = operator_handle<decltype(kernel_features_checked)>("cachet::kernel_features");
  return op.call(narrow_all<device>({x})[0], narrow_all<device>(weights), units);
}

template <c10::DeviceType device, c10::DispatchKey autocast>
Tensor kernel_attention_autocast(const Tensor& q, const Tensor& k, const Tensor& v, at::TensorList weights,
                                 at::IntArrayRef units, const OptionalTensor& padding, bool causal, double eps,
                                 double key_eps) {
  c10::impl::ExcludeDispatchKeyGuard no_autocast(autocast);
  static const auto op = operator_handle<decltype(kernel_attention_any)>("cachet::kernel_attention");
  const auto operands = narrow_all<device>({q, k, v});
  return op.call(operands[0], operands[1], operands[2], narrow_all<device>(weights), units, padding, causal, eps,
                 key_eps);
}

}  // namespace

Tensor kernel_features(const Tensor& x, const FeatureMap& map) {
  static const auto op = operator_handle<decltype(kernel_features_checked)>("cachet::kernel_features");
  return op.call(x, map.weights, numbers(map));
}

Tensor kernel_attention(const Tensor& q, const Tensor& k, const Tensor& v, const FeatureMap& map,
                        const OptionalTensor& padding, bool causal, double eps, double key_eps) {
  static const auto op = operator_handle<decltype(kernel_attention_any)>("cachet::kernel_attention");
  return op.call(q, k, v, map.weights, numbers(map), padding, causal, eps, key_eps);
}

Tensor kernel_attention_stream(const Tensor& q, const Tensor& k, const Tensor& v, const FeatureMap& map,
                               const OptionalTensor& padding, bool causal, double eps, Tensor& sums) {
  const auto units = numbers(map);
  const int64_t features = check_kernel_attention(q, k, v, map.weights, units, padding);
  TORCH_CHECK(!sums.defined() || sums.sizes() == at::IntArrayRef({k.size(0), k.size(1), features, v.size(3) + 1}),
              "kernel_attention: sums must be (B, H, m, e + 1) = (", k.size(0), ", ", k.size(1), ", ", features, ", ",
              v.size(3) + 1, "), got ", sums.sizes());
  auto [output, after] =
      kernel_attention_composite(q, k, v, map.weights, units, padding, causal, eps, /*key_eps=*/0.0, sums);
  sums = after;
  return output;
}

TORCH_LIBRARY_FRAGMENT(cachet, m) {
  m.def("kernel_features(Tensor x, Tensor[] weights, int[] units) -> Tensor");
  m.def(
      "kernel_attention(Tensor q, Tensor k, Tensor v, Tensor[] weights, int[] units, Tensor? padding=None, "
      "bool causal=False, float eps=0.0, float key_eps=0.0) -> Tensor");
  // The form that kernel_attention takes on the CPU, and the sums that its backward pass reads.
  m.def(
      "kernel_attention_fused(Tensor q, Tensor k, Tensor v, Tensor[] weights, int[] units, Tensor? padding, "
      "bool causal, float eps, float key_eps=0.0) -> (Tensor, Tensor, Tensor)");
  m.def(
      "kernel_attention_fused_backward(Tensor grad, Tensor q, Tensor k, Tensor v, Tensor[] weights, int[] units, "
      "Tensor? padding, bool causal, float eps, float key_eps, Tensor output, Tensor states, Tensor divisors) -> "
      "Tensor[]");
}
TORCH_LIBRARY_IMPL(cachet, CompositeImplicitAutograd, m) {
  m.impl("kernel_features", kernel_features_checked);
  m.impl("kernel_attention", kernel_attention_any);
}
TORCH_LIBRARY_IMPL(cachet, CPU, m) {
  m.impl("kernel_attention_fused", kernel_attention_fused);
  m.impl("kernel_attention_fused_backward", kernel_attention_fused_backward);
}
TORCH_LIBRARY_IMPL(cachet, Meta, m) {
  m.impl("kernel_attention_fused", kernel_attention_fused_meta);
  m.impl("kernel_attention_fused_backward", kernel_attention_fused_backward_meta);
}
TORCH_LIBRARY_IMPL(cachet, Autograd, m) {
  m.impl("kernel_attention_fused", kernel_attention_fused_autograd);
  m.impl("kernel_attention_fused_backward", torch::autograd::autogradNotImplementedFallback());
}
TORCH_LIBRARY_IMPL(cachet, AutocastCPU, m) {
  m.impl("kernel_features", kernel_features_autocast<at::kCPU, c10::DispatchKey::AutocastCPU>);
  m.impl("kernel_attention", kernel_attention_autocast<at::kCPU, c10::DispatchKey::AutocastCPU>);
}
TORCH_LIBRARY_IMPL(cachet, AutocastCUDA, m) {
  m.impl("kernel_features", kernel_features_autocast<at::kCUDA, c10::DispatchKey::AutocastCUDA>);
  m.impl("kernel_attention", kernel_attention_autocast<at::kCUDA, c10::DispatchKey::AutocastCUDA>);
}

}  // namespace cachet::ops
