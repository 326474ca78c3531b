#include "cachet/ops/norm/unified_norm.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <array>
#include <string>
#include <string_view>
#include <tuple>

#include "cachet/ops/norm/norm_checks.h"
#include "cachet/ops/norm/norm_function.h"
#include "cachet/ops/norm/token_passes.h"
#include "cachet/ops/support/call.h"
#include "cachet/ops/support/operator_handle.h"
#include "cachet/ops/support/optional_tensor.h"
#include "cachet/ops/support/registration.h"
#include "cachet/ops/support/shapes.h"

namespace cachet::ops {
namespace {

using at::Tensor;

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

struct UnifiedNormCall {
  Tensor input;
  OptionalTensor weight, bias, padding;
  Tensor statistics, counters;
  at::IntArrayRef window;
  at::ArrayRef<double> momentum;
  double eps;
  int64_t warmup;
  bool filter_outliers;
  int64_t forward_mean;
  bool rescale, official, per_channel;
  std::string_view group = {};

  template <class Take>
  auto list(const Take& take) const {
    return take(input, weight, bias, padding, statistics, counters, window, momentum, eps, warmup, filter_outliers,
                forward_mean, rescale, official, per_channel, group);
  }
};

using UnifiedNormForms =
    Listed<UnifiedNormCall,
           UnifiedNormForward(const Tensor&, const OptionalTensor&, const OptionalTensor&, const OptionalTensor&,
                              const Tensor&, const Tensor&, at::IntArrayRef, at::ArrayRef<double>, double, int64_t,
                              bool, int64_t, bool, bool, bool, std::string_view)>;

struct UnifiedNormGradientCall {
  Tensor grad, input;
  OptionalTensor weight, padding;
  Tensor scales, step, statistics;
  at::IntArrayRef window;
  double momentum, eps;
  bool official;
  std::string_view group = {};

  template <class Take>
  auto list(const Take& take) const {
    return take(grad, input, weight, padding, scales, step, statistics, window, momentum, eps, official, group);
  }
};

using UnifiedNormGradientForms =
    Listed<UnifiedNormGradientCall,
           UnifiedNormBackward(const Tensor&, const Tensor&, const OptionalTensor&, const OptionalTensor&,
                               const Tensor&, const Tensor&, const Tensor&, at::IntArrayRef, double, double, bool,
                               std::string_view)>;

void check_window(const char* op, at::IntArrayRef window) {
  TORCH_CHECK(window.size() == 2 && window[0] >= 1 && window[1] >= 1, op,
              ": window must be two numbers of at least 1, got ", window);
}

void check_unified_norm(const UnifiedNormCall& call) {
  check_norm_operands("unified_norm", call.input, call.weight, call.bias, call.padding);
  check_window("unified_norm", call.window);
  TORCH_CHECK(call.forward_mean >= kGeometric && call.forward_mean <= kNone,
              "unified_norm: forward_mean must be 0 (geometric), 1 (arithmetic) or 2 (none), got ", call.forward_mean);
  const int64_t rows = UnifiedNormState::kForwardRing + call.window[0] + call.window[1];
  check_norm_state("unified_norm", call.input, call.statistics, rows, "2 + M + M_b", call.counters, 4);
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

UnifiedNormForward unified_norm_over(const UnifiedNormCall& call, BatchReducer* reducer) {
  check_unified_norm(call);
  Tensor statistics = call.statistics, counters = call.counters;
  const auto wide = statistics.scalar_type();
  const int64_t length = call.window[0];
  const auto [own, none] = passes::mean_over_tokens(passes::sum_of_squares(call.input, call.padding, wide), call.input,
                                                    call.padding, reducer);
  passes::StateKept kept({statistics, counters}, none);

  const Tensor step = counters.select(0, UnifiedNormState::kSteps) + 1;
  const Tensor running = statistics.select(0, UnifiedNormState::kRunning).clone();
  Tensor ring = statistics.narrow(0, UnifiedNormState::kForwardRing, length);
  const Tensor slot = step.remainder(length).unsqueeze(0);
  const Tensor updated = ring.index_copy(0, slot, own.unsqueeze(0));
  const Tensor geometric = updated.log().mean(0).exp(), arithmetic = updated.mean(0);

  // The published code counts its warm-up exclusively and asks the ring to be full; the paper counts inclusively.
  const Tensor warming = call.official ? step < call.warmup : step <= call.warmup;
  const Tensor filling = call.official ? step <= length : step < length;
  const Tensor uneven = call.per_channel ? uneven_channels(ring, updated) : uneven_layer(ring, arithmetic, geometric);
  // The published filter acts on a ring that is still filling too, and then always finds it uneven.
  const Tensor unready = call.per_channel ? step <= length : call.official ? at::zeros_like(filling) : filling;
  const Tensor judging = warming.bitwise_or(unready).bitwise_not();
  const Tensor filtered = call.filter_outliers ? uneven.bitwise_and(judging) : at::zeros_like(uneven);
  // A window of one has nothing to smooth: the published code then treats each step as a filtered one.
  const Tensor on_own = call.official && length == 1 ? at::ones_like(filtered) : filtered;
  const Tensor on_batch = warming.bitwise_or(filling).bitwise_or(on_own);
  const Tensor& of_window = call.forward_mean == kGeometric    ? geometric
                            : call.forward_mean == kArithmetic ? arithmetic
                                                               : own;
  const Tensor used = at::where(on_batch, own, of_window);

  Tensor r = at::ones_like(used);
  if (call.official) {
    const Tensor late = (step > std::max<int64_t>(1000, call.warmup)).bitwise_and(on_own.bitwise_not());
    r = at::where(late, ((used + call.eps).sqrt() / (running + call.eps).sqrt()).clamp(0.2, 5.0), r);
  }

  ring.index_copy_(0, slot, at::where(filtered, running, own).unsqueeze(0));
  statistics.select(0, UnifiedNormState::kRunning).copy_(call.momentum[0] * running + (1 - call.momentum[0]) * used);
  const Tensor count = filtered.sum();
  counters.add_(at::stack({at::ones_like(count), count, on_batch.bitwise_not().sum(),
                           count - counters.select(0, UnifiedNormState::kLastFiltered)}));
  kept.restore();

  Tensor scale = at::rsqrt(used + call.eps);
  if (call.rescale) scale = scale * r;
  if (call.weight) scale = scale * *call.weight;
  const Tensor psi_filling = call.official ? step <= call.window[1] : step < call.window[1];
  const Tensor psi_on_batch = warming.bitwise_or(psi_filling);
  const Tensor y = passes::scale_shift(call.input, scale.to(wide), call.bias);
  if (call.per_channel)
    return {y, at::stack({used, r, on_own.to(wide)}),
            at::stack({step, psi_on_batch.to(at::kLong), at::zeros_like(step)})};
  return {y, at::stack({used, r}),
          at::stack({step, psi_on_batch.bitwise_or(on_own).to(at::kLong), on_own.to(at::kLong)})};
}

UnifiedNormForward unified_norm_forward(const UnifiedNormCall& call) {
  return unified_norm_over(call, reducer_of_group(call.group).get());
}

// --- backward --------------------------------------------------------------------------------------------------------

// Whether the forward pass had a threshold for each channel.
bool has_own_thresholds(const Tensor& scales) { return scales.dim() == 2 && scales.sym_size(0) == 3; }

void check_gradient(const UnifiedNormGradientCall& call) {
  constexpr const char* op = "unified_norm_backward";
  const int64_t scale_rows = has_own_thresholds(call.scales) ? 3 : 2;
  check_norm_gradient(op, call.grad, call.input, call.weight, call.padding, call.scales, call.statistics, scale_rows);
  check_window(op, call.window);
  const int64_t rows = UnifiedNormState::kForwardRing + call.window[0] + call.window[1];
  check_norm_statistics(op, call.input, call.statistics, rows, "2 + M + M_b");
  check_shape(op, "step", call.step, {3}, call.input, at::kLong);
}

UnifiedNormBackward unified_norm_backward_over(const UnifiedNormGradientCall& call, BatchReducer* reducer) {
  check_gradient(call);
  Tensor statistics = call.statistics;
  const auto wide = statistics.scalar_type();
  const Tensor inverse = at::rsqrt(call.scales.select(0, 0) + call.eps), r = call.scales.select(0, 1);
  const Tensor gain = call.weight ? r * *call.weight : r;  // g = dy·gain
  const passes::GradientSums all = passes::gradient_sums(call.grad, call.input, {}, wide);
  const OptionalTensor kept_out = call.official ? std::nullopt : call.padding;
  const passes::GradientSums valid = kept_out ? passes::gradient_sums(call.grad, call.input, kept_out, wide) : all;

  const auto [own, none] = passes::mean_over_tokens(valid.grad_input * gain * inverse, call.input, kept_out, reducer);
  // Where padding counts, a step is one without tokens all the same if there is nothing else.
  passes::StateKept kept({statistics}, call.official && call.padding && !reducer ? call.padding->all() : none);
  const Tensor on_own =
      (has_own_thresholds(call.scales) ? call.scales.select(0, 2) : call.step.select(0, 2)).to(at::kBool);
  const Tensor on_batch = call.step.select(0, 1).to(at::kBool).bitwise_or(on_own);
  const Tensor smoothed = statistics.select(0, UnifiedNormState::kGradientMean).clone();
  Tensor ring = statistics.narrow(0, UnifiedNormState::kForwardRing + call.window[0], call.window[1]);
  const Tensor slot = call.step.select(0, 0).remainder(call.window[1]).unsqueeze(0);
  ring.index_copy_(0, slot, at::where(on_own, smoothed, own).unsqueeze(0));
  const Tensor mean = at::where(on_batch, own, ring.mean(0));
  const Tensor next = call.momentum * smoothed + (1 - call.momentum) * mean;
  statistics.select(0, UnifiedNormState::kGradientMean).copy_(next);
  kept.restore();

  const Tensor psi = at::where(on_own, mean, next);
  const Tensor dx = passes::scale_subtract(call.grad, (gain * inverse).to(wide), call.input, psi * inverse.square());
  return {dx, all.grad_input * inverse * r, all.grad};
}

UnifiedNormBackward unified_norm_backward(const UnifiedNormGradientCall& call) {
  return unified_norm_backward_over(call, reducer_of_group(call.group).get());
}

// --- shapes ----------------------------------------------------------------------------------------------------------

UnifiedNormForward unified_norm_meta(const UnifiedNormCall& call) {
  check_unified_norm(call);
  return {empty_as(call.input),
          at::empty_symint({call.per_channel ? 3 : 2, call.input.sym_size(-1)}, call.statistics.options()),
          at::empty({3}, call.counters.options())};
}

UnifiedNormBackward unified_norm_backward_meta(const UnifiedNormGradientCall& call) {
  check_gradient(call);
  const auto channels = [&] { return at::empty_symint({call.input.sym_size(-1)}, call.statistics.options()); };
  return {empty_as(call.input), channels(), channels()};
}

// --- gradient --------------------------------------------------------------------------------------------------------

UnifiedNormForward call_forward(const UnifiedNormCall& call) {
  static const auto op = operator_handle<UnifiedNormForms::Signature>("cachet::unified_norm");
  return UnifiedNormForms::call(op, call);
}

/// What NormFunction asks of a norm.
struct UnifiedNorm {
  using Call = UnifiedNormCall;

  static UnifiedNormForward forward(const UnifiedNormCall& call, BatchReducer* reducer) {
    return reducer ? unified_norm_over(call, reducer) : call_forward(call);
  }
  static void save(const UnifiedNormCall& call, SavedNumbers& numbers) {
    numbers["window"] = call.window.vec();
    numbers["momentum"] = call.momentum[1];
    numbers["eps"] = call.eps;
    numbers["official"] = call.official;
    numbers["group"] = std::string(call.group);
  }
  static UnifiedNormBackward backward(const SavedNorm& saved, SavedNumbers& numbers, BatchReducer* reducer) {
    static const auto op = operator_handle<UnifiedNormGradientForms::Signature>("cachet::unified_norm_backward");
    const auto window = numbers["window"].toIntVector();
    const std::string group = numbers["group"].toStringRef();
    const UnifiedNormGradientCall call{saved.grad,
                                       saved.input,
                                       saved.weight,
                                       saved.padding,
                                       saved.results[0],
                                       saved.results[1],
                                       saved.statistics,
                                       window,
                                       numbers["momentum"].toDouble(),
                                       numbers["eps"].toDouble(),
                                       numbers["official"].toBool(),
                                       group};
    return reducer ? unified_norm_backward_over(call, reducer) : UnifiedNormGradientForms::call(op, call);
  }
};

UnifiedNormForward unified_norm_autograd(const UnifiedNormCall& call) {
  check_no_transform("unified_norm");
  const auto out = apply_norm<UnifiedNorm>(call, nullptr);
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
                               const UnifiedNormSettings& s, const std::shared_ptr<BatchReducer>& reducer) {
  const std::array<int64_t, 2> window{s.forward_window, s.backward_window};
  const std::array<double, 2> momentum{s.forward_momentum, s.backward_momentum};
  const bool per_channel = s.threshold == OutlierThreshold::channel;
  const UnifiedNormCall call{
      input,     weight,     bias,       padding,  state.statistics,  state.counters,
      window,    momentum,   s.eps,      s.warmup, s.filter_outliers, static_cast<int64_t>(s.forward_mean),
      s.rescale, s.official, per_channel};
  const auto answer = [&](const Tensor& output, const Tensor& scales, const Tensor& step) -> UnifiedNormOutput {
    return {output, scales.select(0, 0), (per_channel ? scales.select(0, 2) : step.select(0, 2)).to(at::kBool)};
  };
  if (reducer) {
    const auto out = apply_norm<UnifiedNorm>(call, reducer);
    return answer(out[0], out[1], out[2]);
  }
  const auto [output, scales, step] = call_forward(call);
  return answer(output, scales, step);
}

TORCH_LIBRARY_FRAGMENT(cachet, m) {
  Operator(m,
           "unified_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? padding, Tensor(a!) statistics, "
           "Tensor(b!) counters, int[2] window, float[2] momentum, float eps, int warmup, bool filter_outliers, "
           "int forward_mean, bool rescale, bool official, bool per_channel=False, "
           "str group=\"\") -> (Tensor, Tensor, Tensor)")
      // For all devices: the passes of token_passes.cpp choose CPU kernels themselves.
      .composite(UnifiedNormForms::form<unified_norm_forward>)
      .meta(UnifiedNormForms::form<unified_norm_meta>)
      .autograd(UnifiedNormForms::form<unified_norm_autograd>);
  Operator(
      m,
      "unified_norm_backward(Tensor grad, Tensor input, Tensor? weight, Tensor? padding, Tensor scales, Tensor step, "
      "Tensor(a!) statistics, int[2] window, float momentum, float eps, bool official, "
      "str group=\"\") -> (Tensor, Tensor, Tensor)")
      .composite(UnifiedNormGradientForms::form<unified_norm_backward>)
      .meta(UnifiedNormGradientForms::form<unified_norm_backward_meta>)
      .without_gradient("unified_norm", kSmoothedOnce);
}

}  // namespace cachet::ops
