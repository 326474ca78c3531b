#include "cachet/ops/unified_norm.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <tuple>

#include "cachet/ops/dispatch.h"

namespace cachet::ops {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;
using State = UnifiedNormState;

// What a forward pass leaves to its backward pass:
//   scales (2, C): σ̂² and r;  step (3) int64: the step's number, whether ψ and dx take the step's own mean, and whether
//   only the running value is recorded
using Forward = std::tuple<Tensor, Tensor, Tensor>;
using Backward = std::tuple<Tensor, Tensor, Tensor>;

void check(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias, const OptionalTensor& padding,
           const Tensor& statistics, const Tensor& counters, at::IntArrayRef window) {
  TORCH_CHECK(input.dim() >= 2, "unified_norm: input must be (..., C) with at least one leading dimension, got ",
              input.sizes());
  const int64_t channels = input.size(-1);
  for (const auto& [name, tensor] : {std::pair("weight", weight), std::pair("bias", bias)})
    TORCH_CHECK(!tensor || (tensor->dim() == 1 && tensor->size(0) == channels), "unified_norm: ", name,
                " must be (C) = (", channels, "), got ", tensor->sizes());
  TORCH_CHECK(
      !padding || (padding->scalar_type() == at::kBool && padding->sizes() == input.sizes().slice(0, input.dim() - 1)),
      "unified_norm: padding must be bool with the leading sizes of input ", input.sizes(), ", got ",
      padding->scalar_type(), " ", padding->sizes());
  TORCH_CHECK(window.size() == 2 && window[0] >= 1 && window[1] >= 1,
              "unified_norm: window must be two counts >= 1, got ", window);
  const int64_t rows = State::kForwardRing + window[0] + window[1];
  TORCH_CHECK(statistics.dim() == 2 && statistics.size(0) == rows && statistics.size(1) == channels,
              "unified_norm: statistics must be (2 + M + M_b, C) = (", rows, ", ", channels, "), got ",
              statistics.sizes());
  TORCH_CHECK(statistics.scalar_type() == at::kFloat || statistics.scalar_type() == at::kDouble,
              "unified_norm: statistics must be float32 or float64, got ", statistics.scalar_type());
  TORCH_CHECK(counters.scalar_type() == at::kLong && counters.dim() == 1 && counters.size(0) == 4,
              "unified_norm: counters must be (4) int64, got ", counters.scalar_type(), " ", counters.sizes());
}

// Mean over the valid tokens of x (N, C); noise at the padding never enters, not even NaN.
Tensor token_mean(const Tensor& x, const OptionalTensor& padding) {
  if (!padding) return x.mean(0);
  const Tensor valid = padding->reshape({-1, 1}).bitwise_not();
  return at::where(valid, x, at::Scalar(0)).sum(0) / valid.sum().clamp_min(1);
}

// Unbiased, over all elements.
Tensor variance(const Tensor& x) {
  return (x - x.mean()).square().sum() / static_cast<double>(std::max<int64_t>(x.numel() - 1, 1));
}

// --- forward ---------------------------------------------------------------------------------------------------------

Forward unified_norm_forward(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                             const OptionalTensor& padding, Tensor statistics, Tensor counters, at::IntArrayRef window,
                             at::ArrayRef<double> momentum, double eps, int64_t warmup, bool filter_outliers,
                             bool geometric_mean, bool official) {
  check(input, weight, bias, padding, statistics, counters, window);
  const int64_t channels = input.size(-1), length = window[0];
  const Tensor x = input.reshape({-1, channels}).to(statistics.scalar_type());
  const Tensor own = token_mean(x.square(), padding);

  const Tensor step = counters.select(0, State::kSteps) + 1;
  const Tensor running = statistics.select(0, State::kRunning).clone();
  Tensor ring = statistics.narrow(0, State::kForwardRing, length);
  const Tensor slot = step.remainder(length).unsqueeze(0);
  const Tensor updated = ring.index_copy(0, slot, own.unsqueeze(0));
  const Tensor geometric = updated.log().mean(0).exp(), arithmetic = updated.mean(0);

  // The published code counts its warm-up exclusively and asks the ring to be full; the paper counts inclusively.
  const Tensor warming = official ? step < warmup : step <= warmup;
  const Tensor filling = official ? step <= length : step < length;
  const Tensor uneven = (arithmetic - geometric > variance(ring.sqrt()) * length).any();
  // The published filter acts on a ring that is still filling too, and then always finds it uneven.
  const Tensor judging = (official ? warming : warming.bitwise_or(filling)).bitwise_not();
  const Tensor filtered = filter_outliers ? uneven.bitwise_and(judging) : at::zeros_like(judging);
  // A window of one has nothing to smooth: the published code then treats each step as a filtered one.
  const Tensor on_own = official && length == 1 ? at::ones_like(filtered) : filtered;
  const Tensor on_batch = warming.bitwise_or(filling).bitwise_or(on_own);
  const Tensor used = at::where(on_batch, own, geometric_mean ? geometric : own);

  Tensor r = at::ones_like(used);
  if (official) {
    const Tensor late = (step > std::max<int64_t>(1000, warmup)).bitwise_and(on_own.bitwise_not());
    r = at::where(late, ((used + eps).sqrt() / (running + eps).sqrt()).clamp(0.2, 5.0), r);
  }

  ring.index_copy_(0, slot, at::where(filtered, running, own).unsqueeze(0));
  statistics.select(0, State::kRunning).copy_(momentum[0] * running + (1 - momentum[0]) * used);
  const Tensor count = filtered.to(at::kLong);
  counters.add_(at::stack({at::ones_like(count), count, on_batch.bitwise_not().to(at::kLong),
                           count - counters.select(0, State::kLastFiltered)}));

  Tensor y = x * at::rsqrt(used + eps);
  if (weight) y = y * *weight;
  if (bias) y = y + *bias;

  const Tensor psi_filling = official ? step <= window[1] : step < window[1];
  const Tensor psi_on_batch = warming.bitwise_or(psi_filling).bitwise_or(on_own);
  return {y.to(input.scalar_type()).view(input.sizes()), at::stack({used, r}),
          at::stack({step, psi_on_batch.to(at::kLong), on_own.to(at::kLong)})};
}

// --- backward --------------------------------------------------------------------------------------------------------

Backward unified_norm_backward(const Tensor& grad, const Tensor& input, const OptionalTensor& weight,
                               const OptionalTensor& padding, const Tensor& scales, const Tensor& step,
                               Tensor statistics, at::IntArrayRef window, double momentum, double eps, bool official) {
  const int64_t channels = input.size(-1);
  const auto dtype = statistics.scalar_type();
  const Tensor dy = grad.reshape({-1, channels}).to(dtype);
  const Tensor inverse = at::rsqrt(scales.select(0, 0) + eps), r = scales.select(0, 1);
  const Tensor z = input.reshape({-1, channels}).to(dtype) * inverse;
  const Tensor g = dy * (weight ? r * *weight : r);

  const Tensor own = token_mean(g * z, official ? std::nullopt : padding);
  const Tensor on_batch = step.select(0, 1).to(at::kBool), on_own = step.select(0, 2).to(at::kBool);
  const Tensor smoothed = statistics.select(0, State::kGradientMean).clone();
  Tensor ring = statistics.narrow(0, State::kForwardRing + window[0], window[1]);
  const Tensor slot = step.select(0, 0).remainder(window[1]).unsqueeze(0);
  ring.index_copy_(0, slot, at::where(on_own, smoothed, own).unsqueeze(0));
  const Tensor mean = at::where(on_batch, own, ring.mean(0));
  const Tensor next = momentum * smoothed + (1 - momentum) * mean;
  statistics.select(0, State::kGradientMean).copy_(next);

  const Tensor psi = at::where(on_own, mean, next);
  const Tensor dx = ((g - psi * z) * inverse).to(input.scalar_type()).view(input.sizes());
  return {dx, (dy * z * r).sum(0), dy.sum(0)};
}

// --- shapes ----------------------------------------------------------------------------------------------------------

Forward unified_norm_meta(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                          const OptionalTensor& padding, Tensor statistics, Tensor counters, at::IntArrayRef window,
                          at::ArrayRef<double>, double, int64_t, bool, bool, bool) {
  check(input, weight, bias, padding, statistics, counters, window);
  return {at::empty(input.sizes(), input.options()), at::empty({2, input.size(-1)}, statistics.options()),
          at::empty({3}, counters.options())};
}

Backward unified_norm_backward_meta(const Tensor&, const Tensor& input, const OptionalTensor&, const OptionalTensor&,
                                    const Tensor&, const Tensor&, Tensor statistics, at::IntArrayRef, double, double,
                                    bool) {
  const auto channels = [&] { return at::empty({input.size(-1)}, statistics.options()); };
  return {at::empty(input.sizes(), input.options()), channels(), channels()};
}

// --- gradient --------------------------------------------------------------------------------------------------------

Forward call_forward(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                     const OptionalTensor& padding, Tensor statistics, Tensor counters, at::IntArrayRef window,
                     at::ArrayRef<double> momentum, double eps, int64_t warmup, bool filter_outliers,
                     bool geometric_mean, bool official) {
  static const auto op = operator_handle<decltype(unified_norm_forward)>("cachet::unified_norm");
  return op.call(input, weight, bias, padding, statistics, counters, window, momentum, eps, warmup, filter_outliers,
                 geometric_mean, official);
}

struct UnifiedNorm : torch::autograd::Function<UnifiedNorm> {
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* ctx, const Tensor& input,
                                                const OptionalTensor& weight, const OptionalTensor& bias,
                                                const OptionalTensor& padding, const Tensor& statistics,
                                                const Tensor& counters, at::IntArrayRef window,
                                                at::ArrayRef<double> momentum, double eps, int64_t warmup,
                                                bool filter_outliers, bool geometric_mean, bool official) {
    at::AutoDispatchBelowADInplaceOrView below;
    const auto [y, scales, step] = call_forward(input, weight, bias, padding, statistics, counters, window, momentum,
                                                eps, warmup, filter_outliers, geometric_mean, official);
    ctx->save_for_backward({input, weight.value_or(Tensor()), padding.value_or(Tensor()), scales, step});
    // The state is written by later passes too, so it is held as it is and not as a saved variable.
    ctx->saved_data["statistics"] = statistics;
    ctx->saved_data["window"] = window.vec();
    ctx->saved_data["momentum"] = momentum[1];
    ctx->saved_data["eps"] = eps;
    ctx->saved_data["official"] = official;
    ctx->saved_data["bias"] = bias.has_value();
    ctx->mark_non_differentiable({scales, step});
    return {y, scales, step};
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list grads) {
    static const auto op = operator_handle<decltype(unified_norm_backward)>("cachet::unified_norm_backward");
    const auto saved = ctx->get_saved_variables();
    const auto present = [](const Tensor& t) { return t.defined() ? OptionalTensor(t) : std::nullopt; };
    auto& data = ctx->saved_data;
    const Tensor dy = grads[0].defined() ? grads[0] : at::zeros_like(saved[0]);
    const auto [dx, dw, db] = op.call(dy, saved[0], present(saved[1]), present(saved[2]), saved[3], saved[4],
                                      data["statistics"].toTensor(), data["window"].toIntVector(),
                                      data["momentum"].toDouble(), data["eps"].toDouble(), data["official"].toBool());
    const Tensor none;
    return {dx,
            saved[1].defined() ? dw.to(saved[1].scalar_type()) : none,
            data["bias"].toBool() ? db : none,
            none,
            none,
            none,
            none,
            none,
            none,
            none,
            none,
            none,
            none};
  }
};

Forward unified_norm_autograd(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                              const OptionalTensor& padding, Tensor statistics, Tensor counters, at::IntArrayRef window,
                              at::ArrayRef<double> momentum, double eps, int64_t warmup, bool filter_outliers,
                              bool geometric_mean, bool official) {
  const auto out = UnifiedNorm::apply(input, weight, bias, padding, statistics, counters, window, momentum, eps, warmup,
                                      filter_outliers, geometric_mean, official);
  return {out[0], out[1], out[2]};
}

Tensor unified_norm_inference_composite(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                                        const Tensor& running, double eps) {
  const int64_t channels = input.dim() > 0 ? input.size(-1) : -1;
  for (const auto& [name, tensor] :
       {std::pair("weight", weight), std::pair("bias", bias), std::pair("running", OptionalTensor(running))})
    TORCH_CHECK(!tensor || (tensor->dim() == 1 && tensor->size(0) == channels), "unified_norm_inference: ", name,
                " must be (C) = (", channels, "), got ", tensor->sizes());
  Tensor scale = at::rsqrt(running + eps);
  if (weight) scale = scale * *weight;
  const Tensor y = input * scale.to(input.scalar_type());
  return bias ? y + bias->to(input.scalar_type()) : y;
}

}  // namespace

UnifiedNormState initial_unified_norm_state(int64_t channels, const UnifiedNormSettings& settings,
                                            const at::TensorOptions& options) {
  const int64_t rows = State::kForwardRing + settings.forward_window + settings.backward_window;
  Tensor statistics = at::zeros({rows, channels}, options);
  statistics.select(0, State::kRunning).fill_(1);
  return {statistics, at::zeros({4}, options.dtype(at::kLong))};
}

UnifiedNormOutput unified_norm(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                               const OptionalTensor& padding, const UnifiedNormState& state,
                               const UnifiedNormSettings& s) {
  const auto [output, scales, step] = call_forward(
      input, weight, bias, padding, state.statistics, state.counters, {s.forward_window, s.backward_window},
      {s.forward_momentum, s.backward_momentum}, s.eps, s.warmup, s.filter_outliers, s.geometric_mean, s.official);
  return {output, scales.select(0, 0)};
}

Tensor unified_norm_inference(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                              const Tensor& running, double eps) {
  static const auto op = operator_handle<decltype(unified_norm_inference)>("cachet::unified_norm_inference");
  return op.call(input, weight, bias, running, eps);
}

TORCH_LIBRARY_FRAGMENT(cachet, m) {
  m.def(
      "unified_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? padding, Tensor(a!) statistics, "
      "Tensor(b!) counters, int[2] window, float[2] momentum, float eps, int warmup, bool filter_outliers, "
      "bool geometric_mean, bool official) -> (Tensor, Tensor, Tensor)");
  m.def(
      "unified_norm_backward(Tensor grad, Tensor input, Tensor? weight, Tensor? padding, Tensor scales, Tensor step, "
      "Tensor(a!) statistics, int[2] window, float momentum, float eps, bool official) -> (Tensor, Tensor, Tensor)");
  m.def("unified_norm_inference(Tensor input, Tensor? weight, Tensor? bias, Tensor running, float eps) -> Tensor");
}
TORCH_LIBRARY_IMPL(cachet, CompositeExplicitAutograd, m) {
  m.impl("unified_norm", unified_norm_forward);
  m.impl("unified_norm_backward", unified_norm_backward);
}
TORCH_LIBRARY_IMPL(cachet, Meta, m) {
  m.impl("unified_norm", unified_norm_meta);
  m.impl("unified_norm_backward", unified_norm_backward_meta);
}
TORCH_LIBRARY_IMPL(cachet, CompositeImplicitAutograd, m) {
  m.impl("unified_norm_inference", unified_norm_inference_composite);
}
TORCH_LIBRARY_IMPL(cachet, Autograd, m) {
  m.impl("unified_norm", unified_norm_autograd);
  m.impl("unified_norm_backward", torch::autograd::autogradNotImplementedFallback());
}

}  // namespace cachet::ops
