#include "cachet/ops/norm/power_norm.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

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
using PowerNormForward = std::tuple<Tensor, Tensor>;  // y, and for the backward pass scales (2, C): s and mean x²
using PowerNormBackward = std::tuple<Tensor, Tensor, Tensor>;

struct PowerNormCall {
  Tensor input;
  OptionalTensor weight, bias, padding;
  Tensor statistics, counters;
  double momentum, backward_momentum, eps;
  int64_t warmup;
  std::string_view group = {};

  template <class Take>
  auto list(const Take& take) const {
    return take(input, weight, bias, padding, statistics, counters, momentum, backward_momentum, eps, warmup, group);
  }
};

using PowerNormForms =
    Listed<PowerNormCall,
           PowerNormForward(const Tensor&, const OptionalTensor&, const OptionalTensor&, const OptionalTensor&,
                            const Tensor&, const Tensor&, double, double, double, int64_t, std::string_view)>;

struct PowerNormGradientCall {
  Tensor grad, input;
  OptionalTensor weight, padding;
  Tensor scales, statistics;
  double momentum, eps;
  std::string_view group = {};

  template <class Take>
  auto list(const Take& take) const {
    return take(grad, input, weight, padding, scales, statistics, momentum, eps, group);
  }
};

using PowerNormGradientForms =
    Listed<PowerNormGradientCall,
           PowerNormBackward(const Tensor&, const Tensor&, const OptionalTensor&, const OptionalTensor&, const Tensor&,
                             const Tensor&, double, double, std::string_view)>;

void check_power_norm(const PowerNormCall& call) {
  check_norm_operands("power_norm", call.input, call.weight, call.bias, call.padding);
  check_norm_state("power_norm", call.input, call.statistics, 2, "2", call.counters, 1);
}

void check_gradient(const PowerNormGradientCall& call) {
  constexpr const char* op = "power_norm_backward";
  check_norm_gradient(op, call.grad, call.input, call.weight, call.padding, call.scales, call.statistics);
  check_norm_statistics(op, call.input, call.statistics, 2, "2");
}

PowerNormForward power_norm_over(const PowerNormCall& call, BatchReducer* reducer) {
  check_power_norm(call);
  Tensor statistics = call.statistics, counters = call.counters;
  const auto wide = statistics.scalar_type();
  const auto [own, none] = passes::mean_over_tokens(passes::sum_of_squares(call.input, call.padding, wide), call.input,
                                                    call.padding, reducer);
  passes::StateKept kept({statistics, counters}, none);
  counters.add_(1);
  const Tensor step = counters.select(0, 0).clone();
  const Tensor running = statistics.select(0, PowerNormState::kRunning).clone();
  const Tensor used = at::where(step <= call.warmup, own, running);

  const Tensor cumulative = running + (own - running) / step;
  const Tensor before = at::where(step < call.warmup, cumulative, running);
  statistics.select(0, PowerNormState::kRunning).copy_(call.momentum * before + (1 - call.momentum) * own);
  kept.restore();

  Tensor scale = at::rsqrt(used + call.eps);
  if (call.weight) scale = scale * *call.weight;
  return {passes::scale_shift(call.input, scale.to(wide), call.bias), at::stack({used, own})};
}

PowerNormForward power_norm_forward(const PowerNormCall& call) {
  return power_norm_over(call, reducer_of_group(call.group).get());
}

PowerNormBackward power_norm_backward_over(const PowerNormGradientCall& call, BatchReducer* reducer) {
  check_gradient(call);
  Tensor statistics = call.statistics;
  const auto wide = statistics.scalar_type();
  const Tensor inverse = at::rsqrt(call.scales.select(0, 0) + call.eps), own = call.scales.select(0, 1);
  const Tensor own_inverse = at::rsqrt(own + call.eps);
  const passes::GradientSums all = passes::gradient_sums(call.grad, call.input, {}, wide);
  const passes::GradientSums valid =
      call.padding ? passes::gradient_sums(call.grad, call.input, call.padding, wide) : all;

  Tensor gradient_mean = statistics.select(0, PowerNormState::kGradientMean);
  const Tensor pull = (1 - call.momentum) * gradient_mean;  // a = dy·w − pull·z
  const auto [mean_of, none] = passes::mean_over_tokens(valid.grad_input * inverse, call.input, call.padding, reducer);
  const Tensor mean_gz = call.weight ? mean_of * *call.weight : mean_of;
  passes::StateKept kept({gradient_mean}, none);
  gradient_mean.add_(mean_gz - pull * own * inverse.square());
  kept.restore();

  const Tensor grad_scale = call.weight ? own_inverse * *call.weight : own_inverse;
  const Tensor dx = passes::scale_subtract(call.grad, grad_scale.to(wide), call.input, pull * inverse * own_inverse);
  return {dx, all.grad_input * inverse, all.grad};
}

PowerNormBackward power_norm_backward(const PowerNormGradientCall& call) {
  return power_norm_backward_over(call, reducer_of_group(call.group).get());
}

PowerNormForward power_norm_meta(const PowerNormCall& call) {
  check_power_norm(call);
  return {empty_as(call.input), at::empty_symint({2, call.input.sym_size(-1)}, call.statistics.options())};
}

PowerNormBackward power_norm_backward_meta(const PowerNormGradientCall& call) {
  check_gradient(call);
  const auto channels = [&] { return at::empty_symint({call.input.sym_size(-1)}, call.statistics.options()); };
  return {empty_as(call.input), channels(), channels()};
}

// --- gradient --------------------------------------------------------------------------------------------------------

PowerNormForward call_forward(const PowerNormCall& call) {
  static const auto op = operator_handle<PowerNormForms::Signature>("cachet::power_norm");
  return PowerNormForms::call(op, call);
}

/// What NormFunction asks of a norm.
struct PowerNorm {
  using Call = PowerNormCall;

  static PowerNormForward forward(const PowerNormCall& call, BatchReducer* reducer) {
    return reducer ? power_norm_over(call, reducer) : call_forward(call);
  }
  static void save(const PowerNormCall& call, SavedNumbers& numbers) {
    numbers["momentum"] = call.backward_momentum;
    numbers["eps"] = call.eps;
    numbers["group"] = std::string(call.group);
  }
  static PowerNormBackward backward(const SavedNorm& saved, SavedNumbers& numbers, BatchReducer* reducer) {
    static const auto op = operator_handle<PowerNormGradientForms::Signature>("cachet::power_norm_backward");
    const std::string group = numbers["group"].toStringRef();
    const PowerNormGradientCall call{saved.grad,
                                     saved.input,
                                     saved.weight,
                                     saved.padding,
                                     saved.results[0],
                                     saved.statistics,
                                     numbers["momentum"].toDouble(),
                                     numbers["eps"].toDouble(),
                                     group};
    return reducer ? power_norm_backward_over(call, reducer) : PowerNormGradientForms::call(op, call);
  }
};

PowerNormForward power_norm_autograd(const PowerNormCall& call) {
  check_no_transform("power_norm");
  const auto out = apply_norm<PowerNorm>(call, nullptr);
  return {out[0], out[1]};
}

}  // namespace

PowerNormState initial_power_norm_state(int64_t channels, const at::TensorOptions& options) {
  Tensor statistics = at::zeros({2, channels}, options);
  statistics.select(0, PowerNormState::kRunning).fill_(1);
  return {statistics, at::zeros({1}, options.dtype(at::kLong))};
}

PowerNormOutput power_norm(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                           const OptionalTensor& padding, const PowerNormState& state, const PowerNormSettings& s,
                           const std::shared_ptr<BatchReducer>& reducer) {
  const PowerNormCall call{
      input, weight,  bias, padding, state.statistics, state.counters, s.forward_momentum, s.backward_momentum,
      s.eps, s.warmup};
  if (reducer) {
    const auto out = apply_norm<PowerNorm>(call, reducer);
    return {out[0], out[1].select(0, 0), out[1].select(0, 1)};
  }
  const auto [output, scales] = call_forward(call);
  return {output, scales.select(0, 0), scales.select(0, 1)};
}

TORCH_LIBRARY_FRAGMENT(cachet, m) {
  Operator(m,
           "power_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? padding, Tensor(a!) statistics, "
           "Tensor(b!) counters, float momentum, float backward_momentum, float eps, int warmup, "
           "str group=\"\") -> (Tensor, Tensor)")
      // For all devices: the passes of token_passes.cpp choose CPU kernels themselves.
      .composite(PowerNormForms::form<power_norm_forward>)
      .meta(PowerNormForms::form<power_norm_meta>)
      .autograd(PowerNormForms::form<power_norm_autograd>);
  Operator(m,
           "power_norm_backward(Tensor grad, Tensor input, Tensor? weight, Tensor? padding, Tensor scales, "
           "Tensor(a!) statistics, float momentum, float eps, str group=\"\") -> (Tensor, Tensor, Tensor)")
      .composite(PowerNormGradientForms::form<power_norm_backward>)
      .meta(PowerNormGradientForms::form<power_norm_backward_meta>)
      .without_gradient("power_norm", kSmoothedOnce);
}

}  // namespace cachet::ops
