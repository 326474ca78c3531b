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
#include <torch/csrc/autograd/custom_function.h>

#include <array>
#include <tuple>

#include "cachet/ops/dispatch.h"
#include "cachet/ops/norm_checks.h"
#include "cachet/ops/registration.h"
#include "cachet/ops/replicas_holder.h"
#include "cachet/ops/shapes.h"
#include "cachet/ops/token_passes.h"

namespace cachet::ops {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;

// The schema's form of WindowMean.
constexpr auto kGeometric = static_cast<int64_t>(WindowMean::geometric);
constexpr auto kArithmetic = static_cast<int64_t>(WindowMean::arithmetic);
constexpr auto kNone = static_cast<int64_t>(WindowMean::none);

// What a forward pass leaves to its backward pass:
//   scales (2, C): σ̂² and r, and, if each channel has its own threshold, a third row: 1 in filtered channels
//   step (3) int64: the step's number, whether ψ takes the step's own mean, and whether dx takes it too and only the
//   running value is recorded (a filtered step)
using UnifiedNormForward = std::tuple<Tensor, Tensor, Tensor>;
using UnifiedNormBackward = std::tuple<Tensor, Tensor, Tensor>;

void check_window(const char* op, at::IntArrayRef window) {
  TORCH_CHECK(window.size() == 2 && window[0] >= 1 && window[1] >= 1, op, ": window must be two counts >= 1, got ",
              window);
}

void check_unified_norm(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                        const OptionalTensor& padding, const Tensor& statistics, const Tensor& counters,
                        at::IntArrayRef window, int64_t forward_mean) {
  check_norm_operands("unified_norm", input, weight, bias, padding);
  check_window("unified_norm", window);
  TORCH_CHECK(forward_mean >= kGeometric && forward_mean <= kNone,
              "unified_norm: forward_mean must be 0 (geometric), 1 (arithmetic) or 2 (none), got ", forward_mean);
  const int64_t rows = UnifiedNormState::kForwardRing + window[0] + window[1];
  check_norm_state("unified_norm", input, statistics, rows, "2 + M + M_b", counters, 4);
}

// Unbiased, over all elements.
Tensor variance(const Tensor& x) {
  return (x - x.mean()).square().sum() / static_cast<double>(std::max<int64_t>(x.numel() - 1, 1));
}

// Whether E(Ω_t) − Π(Ω_t) of any channel is above M·V(√Ω_{t−1}), V over all channels and steps. ()
Tensor uneven_layer(const Tensor& ring, const Tensor& arithmetic, const Tensor& geometric) {
  return (arithmetic - geometric > variance(ring.sqrt()) * ring.size(0)).any();
}

// The same of each channel with its own population variance (C). In float64, since both sides of an even window are
// smaller than the rounding of float32; what is within the rounding of float64 does not count.
Tensor uneven_channels(const Tensor& ring, const Tensor& updated) {
  constexpr double kRounding = 1e-12;
  const Tensor roots = ring.to(at::kDouble).sqrt(), now = updated.to(at::kDouble);
  return now.mean(0) * (1 - kRounding) - now.log().mean(0).exp() > (roots - roots.mean(0)).square().sum(0);
}

// --- forward ---------------------------------------------------------------------------------------------------------

UnifiedNormForward unified_norm_over(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                                     const OptionalTensor& padding, Tensor statistics, Tensor counters,
                                     at::IntArrayRef window, at::ArrayRef<double> momentum, double eps, int64_t warmup,
                                     bool filter_outliers, int64_t forward_mean, bool rescale, bool official,
                                     bool per_channel, Replicas* replicas) {
  check_unified_norm(input, weight, bias, padding, statistics, counters, window, forward_mean);
  const auto wide = statistics.scalar_type();
  const int64_t length = window[0];
  const auto [own, none] =
      passes::mean_over_tokens(passes::sum_of_squares(input, padding, wide), input, padding, replicas);
  passes::StateKept kept({statistics, counters}, none);

  const Tensor step = counters.select(0, UnifiedNormState::kSteps) + 1;
  const Tensor running = statistics.select(0, UnifiedNormState::kRunning).clone();
  Tensor ring = statistics.narrow(0, UnifiedNormState::kForwardRing, length);
  const Tensor slot = step.remainder(length).unsqueeze(0);
  const Tensor updated = ring.index_copy(0, slot, own.unsqueeze(0));
  const Tensor geometric = updated.log().mean(0).exp(), arithmetic = updated.mean(0);

  // The published code counts its warm-up exclusively and asks the ring to be full; the paper counts inclusively.
  const Tensor warming = official ? step < warmup : step <= warmup;
  const Tensor filling = official ? step <= length : step < length;
  const Tensor uneven = per_channel ? uneven_channels(ring, updated) : uneven_layer(ring, arithmetic, geometric);
  // The published filter acts on a ring that is still filling too, and then always finds it uneven.
  const Tensor unready = per_channel ? step <= length : official ? at::zeros_like(filling) : filling;
  const Tensor judging = warming.bitwise_or(unready).bitwise_not();
  const Tensor filtered = filter_outliers ? uneven.bitwise_and(judging) : at::zeros_like(uneven);
  // A window of one has nothing to smooth: the published code then treats each step as a filtered one.
  const Tensor on_own = official && length == 1 ? at::ones_like(filtered) : filtered;
  const Tensor on_batch = warming.bitwise_or(filling).bitwise_or(on_own);
  const Tensor& of_window = forward_mean == kGeometric ? geometric : forward_mean == kArithmetic ? arithmetic : own;
  const Tensor used = at::where(on_batch, own, of_window);

  Tensor r = at::ones_like(used);
  if (official) {
    const Tensor late = (step > std::max<int64_t>(1000, warmup)).bitwise_and(on_own.bitwise_not());
    r = at::where(late, ((used + eps).sqrt() / (running + eps).sqrt()).clamp(0.2, 5.0), r);
  }

  ring.index_copy_(0, slot, at::where(filtered, running, own).unsqueeze(0));
  statistics.select(0, UnifiedNormState::kRunning).copy_(momentum[0] * running + (1 - momentum[0]) * used);
  const Tensor count = filtered.sum();
  counters.add_(at::stack({at::ones_like(count), count, on_batch.bitwise_not().sum(),
                           count - counters.select(0, UnifiedNormState::kLastFiltered)}));
  kept.restore();

  Tensor scale = at::rsqrt(used + eps);
  if (rescale) scale = scale * r;
  if (weight) scale = scale * *weight;
  const Tensor psi_filling = official ? step <= window[1] : step < window[1];
  const Tensor psi_on_batch = warming.bitwise_or(psi_filling);
  const Tensor y = passes::scale_shift(input, scale.to(wide), bias);
  if (per_channel)
    return {y, at::stack({used, r, on_own.to(wide)}),
            at::stack({step, psi_on_batch.to(at::kLong), at::zeros_like(step)})};
  return {y, at::stack({used, r}),
          at::stack({step, psi_on_batch.bitwise_or(on_own).to(at::kLong), on_own.to(at::kLong)})};
}

UnifiedNormForward unified_norm_forward(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                                        const OptionalTensor& padding, Tensor statistics, Tensor counters,
                                        at::IntArrayRef window, at::ArrayRef<double> momentum, double eps,
                                        int64_t warmup, bool filter_outliers, int64_t forward_mean, bool rescale,
                                        bool official, bool per_channel) {
  return unified_norm_over(input, weight, bias, padding, statistics, counters, window, momentum, eps, warmup,
                           filter_outliers, forward_mean, rescale, official, per_channel, nullptr);
}

// --- backward --------------------------------------------------------------------------------------------------------

// Whether the forward pass had a threshold for each channel.
bool has_own_thresholds(const Tensor& scales) { return scales.dim() == 2 && scales.sym_size(0) == 3; }

void check_gradient(const Tensor& grad, const Tensor& input, const OptionalTensor& weight,
                    const OptionalTensor& padding, const Tensor& scales, const Tensor& step, const Tensor& statistics,
                    at::IntArrayRef window) {
  constexpr const char* op = "unified_norm_backward";
  check_norm_gradient(op, grad, input, weight, padding, scales, statistics, has_own_thresholds(scales) ? 3 : 2);
  check_window(op, window);
  check_norm_statistics(op, input, statistics, UnifiedNormState::kForwardRing + window[0] + window[1], "2 + M + M_b");
  check_shape(op, "step", step, {3}, input, at::kLong);
}

UnifiedNormBackward unified_norm_backward_over(const Tensor& grad, const Tensor& input, const OptionalTensor& weight,
                                               const OptionalTensor& padding, const Tensor& scales, const Tensor& step,
                                               Tensor statistics, at::IntArrayRef window, double momentum, double eps,
                                               bool official, Replicas* replicas) {
  check_gradient(grad, input, weight, padding, scales, step, statistics, window);
  const auto wide = statistics.scalar_type();
  const Tensor inverse = at::rsqrt(scales.select(0, 0) + eps), r = scales.select(0, 1);
  const Tensor gain = weight ? r * *weight : r;  // g = dy·gain
  const passes::GradientSums all = passes::gradient_sums(grad, input, {}, wide);
  const OptionalTensor kept_out = official ? std::nullopt : padding;
  const passes::GradientSums valid = kept_out ? passes::gradient_sums(grad, input, kept_out, wide) : all;

  const auto [own, none] = passes::mean_over_tokens(valid.grad_input * gain * inverse, input, kept_out, replicas);
  // Where padding counts, a step is one without tokens all the same if there is nothing else.
  passes::StateKept kept({statistics}, official && padding && !replicas ? padding->all() : none);
  const Tensor on_own = (has_own_thresholds(scales) ? scales.select(0, 2) : step.select(0, 2)).to(at::kBool);
  const Tensor on_batch = step.select(0, 1).to(at::kBool).bitwise_or(on_own);
  const Tensor smoothed = statistics.select(0, UnifiedNormState::kGradientMean).clone();
  Tensor ring = statistics.narrow(0, UnifiedNormState::kForwardRing + window[0], window[1]);
  const Tensor slot = step.select(0, 0).remainder(window[1]).unsqueeze(0);
  ring.index_copy_(0, slot, at::where(on_own, smoothed, own).unsqueeze(0));
  const Tensor mean = at::where(on_batch, own, ring.mean(0));
  const Tensor next = momentum * smoothed + (1 - momentum) * mean;
  statistics.select(0, UnifiedNormState::kGradientMean).copy_(next);
  kept.restore();

  const Tensor psi = at::where(on_own, mean, next);
  const Tensor dx = passes::scale_subtract(grad, (gain * inverse).to(wide), input, psi * inverse.square());
  return {dx, all.grad_input * inverse * r, all.grad};
}

UnifiedNormBackward unified_norm_backward(const Tensor& grad, const Tensor& input, const OptionalTensor& weight,
                                          const OptionalTensor& padding, const Tensor& scales, const Tensor& step,
                                          Tensor statistics, at::IntArrayRef window, double momentum, double eps,
                                          bool official) {
  return unified_norm_backward_over(grad, input, weight, padding, scales, step, statistics, window, momentum, eps,
                                    official, nullptr);
}

// --- shapes ----------------------------------------------------------------------------------------------------------

UnifiedNormForward unified_norm_meta(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                                     const OptionalTensor& padding, Tensor statistics, Tensor counters,
                                     at::IntArrayRef window, at::ArrayRef<double>, double, int64_t, bool,
                                     int64_t forward_mean, bool, bool, bool per_channel) {
  check_unified_norm(input, weight, bias, padding, statistics, counters, window, forward_mean);
  return {empty_as(input), at::empty_symint({per_channel ? 3 : 2, input.sym_size(-1)}, statistics.options()),
          at::empty({3}, counters.options())};
}

UnifiedNormBackward unified_norm_backward_meta(const Tensor& grad, const Tensor& input, const OptionalTensor& weight,
                                               const OptionalTensor& padding, const Tensor& scales, const Tensor& step,
                                               Tensor statistics, at::IntArrayRef window, double, double, bool) {
  check_gradient(grad, input, weight, padding, scales, step, statistics, window);
  const auto channels = [&] { return at::empty_symint({input.sym_size(-1)}, statistics.options()); };
  return {empty_as(input), channels(), channels()};
}

// --- gradient --------------------------------------------------------------------------------------------------------

UnifiedNormForward call_forward(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                                const OptionalTensor& padding, Tensor statistics, Tensor counters,
                                at::IntArrayRef window, at::ArrayRef<double> momentum, double eps, int64_t warmup,
                                bool filter_outliers, int64_t forward_mean, bool rescale, bool official,
                                bool per_channel) {
  static const auto op = operator_handle<decltype(unified_norm_forward)>("cachet::unified_norm");
  return op.call(input, weight, bias, padding, statistics, counters, window, momentum, eps, warmup, filter_outliers,
                 forward_mean, rescale, official, per_channel);
}

struct UnifiedNorm : torch::autograd::Function<UnifiedNorm> {
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* ctx, const Tensor& input,
                                                const OptionalTensor& weight, const OptionalTensor& bias,
                                                const OptionalTensor& padding, const Tensor& statistics,
                                                const Tensor& counters, at::IntArrayRef window,
                                                at::ArrayRef<double> momentum, double eps, int64_t warmup,
                                                bool filter_outliers, int64_t forward_mean, bool rescale, bool official,
                                                bool per_channel, const std::shared_ptr<Replicas>& replicas) {
    at::AutoDispatchBelowADInplaceOrView below;
    const auto [y, scales, step] =
        replicas ? unified_norm_over(input, weight, bias, padding, statistics, counters, window, momentum, eps, warmup,
                                     filter_outliers, forward_mean, rescale, official, per_channel, replicas.get())
                 : call_forward(input, weight, bias, padding, statistics, counters, window, momentum, eps, warmup,
                                filter_outliers, forward_mean, rescale, official, per_channel);
    if (replicas) ctx->saved_data["replicas"] = hold(replicas);
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
    const auto replicas = data.find("replicas");
    const auto gradients = [&](const auto& call, auto... last) {
      return call(dy, saved[0], present(saved[1]), present(saved[2]), saved[3], saved[4], data["statistics"].toTensor(),
                  data["window"].toIntVector(), data["momentum"].toDouble(), data["eps"].toDouble(),
                  data["official"].toBool(), last...);
    };
    const auto [dx, dw, db] = replicas == data.end()
                                  ? gradients([&](const auto&... operands) { return op.call(operands...); })
                                  : gradients(unified_norm_backward_over, held_replicas(replicas->second));
    torch::autograd::variable_list all{dx, saved[1].defined() ? dw.to(saved[1].scalar_type()) : Tensor(),
                                       data["bias"].toBool() ? db : Tensor()};
    all.resize(16);
    return all;
  }
};

UnifiedNormForward unified_norm_autograd(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                                         const OptionalTensor& padding, Tensor statistics, Tensor counters,
                                         at::IntArrayRef window, at::ArrayRef<double> momentum, double eps,
                                         int64_t warmup, bool filter_outliers, int64_t forward_mean, bool rescale,
                                         bool official, bool per_channel) {
  const auto out = UnifiedNorm::apply(input, weight, bias, padding, statistics, counters, window, momentum, eps, warmup,
                                      filter_outliers, forward_mean, rescale, official, per_channel, nullptr);
  return {out[0], out[1], out[2]};
}

}  // namespace

UnifiedNormState initial_unified_norm_state(int64_t channels, const UnifiedNormSettings& settings,
                                            const at::TensorOptions& options) {
  const int64_t rows = UnifiedNormState::kForwardRing + settings.forward_window + settings.backward_window;
  Tensor statistics = at::zeros({rows, channels}, options);
  statistics.select(0, UnifiedNormState::kRunning).fill_(1);
  return {statistics, at::zeros({4}, options.dtype(at::kLong))};
}

UnifiedNormOutput unified_norm(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                               const OptionalTensor& padding, const UnifiedNormState& state,
                               const UnifiedNormSettings& s, const std::shared_ptr<Replicas>& replicas) {
  const bool per_channel = s.threshold == OutlierThreshold::channel;
  const auto answer = [&](const Tensor& output, const Tensor& scales, const Tensor& step) -> UnifiedNormOutput {
    return {output, scales.select(0, 0), (per_channel ? scales.select(0, 2) : step.select(0, 2)).to(at::kBool)};
  };
  if (replicas) {
    const std::array<int64_t, 2> window{s.forward_window, s.backward_window};
    const std::array<double, 2> momentum{s.forward_momentum, s.backward_momentum};
    const auto out =
        UnifiedNorm::apply(input, weight, bias, padding, state.statistics, state.counters, at::IntArrayRef(window),
                           at::ArrayRef<double>(momentum), s.eps, s.warmup, s.filter_outliers,
                           static_cast<int64_t>(s.forward_mean), s.rescale, s.official, per_channel, replicas);
    return answer(out[0], out[1], out[2]);
  }
  const auto [output, scales, step] =
      call_forward(input, weight, bias, padding, state.statistics, state.counters,
                   {s.forward_window, s.backward_window}, {s.forward_momentum, s.backward_momentum}, s.eps, s.warmup,
                   s.filter_outliers, static_cast<int64_t>(s.forward_mean), s.rescale, s.official, per_channel);
  return answer(output, scales, step);
}

TORCH_LIBRARY_FRAGMENT(cachet, m) {
  Operator(m,
           "unified_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? padding, Tensor(a!) statistics, "
           "Tensor(b!) counters, int[2] window, float[2] momentum, float eps, int warmup, bool filter_outliers, "
           "int forward_mean, bool rescale, bool official, bool per_channel=False) -> (Tensor, Tensor, Tensor)")
      .composite(unified_norm_forward)
      .meta(unified_norm_meta)
      .autograd(unified_norm_autograd);
  Operator(
      m,
      "unified_norm_backward(Tensor grad, Tensor input, Tensor? weight, Tensor? padding, Tensor scales, Tensor step, "
      "Tensor(a!) statistics, int[2] window, float momentum, float eps, bool official) -> (Tensor, Tensor, Tensor)")
      .composite(unified_norm_backward)
      .meta(unified_norm_backward_meta)
      .without_gradient("unified_norm", kSmoothedOnce);
}

}  // namespace cachet::ops
