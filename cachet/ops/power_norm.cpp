#include "cachet/ops/power_norm.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/custom_function.h>

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
using PowerNormForward = std::tuple<Tensor, Tensor>;  // y, and for the backward pass scales (2, C): s and mean x²
using PowerNormBackward = std::tuple<Tensor, Tensor, Tensor>;

void check_power_norm(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                      const OptionalTensor& padding, const Tensor& statistics, const Tensor& counters) {
  check_norm_operands("power_norm", input, weight, bias, padding);
  check_norm_state("power_norm", input, statistics, 2, "2", counters, 1);
}

void check_gradient(const Tensor& grad, const Tensor& input, const OptionalTensor& weight,
                    const OptionalTensor& padding, const Tensor& scales, const Tensor& statistics) {
  constexpr const char* op = "power_norm_backward";
  check_norm_gradient(op, grad, input, weight, padding, scales, statistics);
  check_norm_statistics(op, input, statistics, 2, "2");
}

PowerNormForward power_norm_over(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                                 const OptionalTensor& padding, Tensor statistics, Tensor counters, double momentum,
                                 double eps, int64_t warmup, Replicas* replicas) {
  check_power_norm(input, weight, bias, padding, statistics, counters);
  const auto wide = statistics.scalar_type();
  const auto [own, none] =
      passes::mean_over_tokens(passes::sum_of_squares(input, padding, wide), input, padding, replicas);
  passes::StateKept kept({statistics, counters}, none);
  counters.add_(1);
  const Tensor step = counters.select(0, 0).clone();
  const Tensor running = statistics.select(0, PowerNormState::kRunning).clone();
  const Tensor used = at::where(step <= warmup, own, running);

  const Tensor cumulative = running + (own - running) / step;
  const Tensor before = at::where(step < warmup, cumulative, running);
  statistics.select(0, PowerNormState::kRunning).copy_(momentum * before + (1 - momentum) * own);
  kept.restore();

  Tensor scale = at::rsqrt(used + eps);
  if (weight) scale = scale * *weight;
  return {passes::scale_shift(input, scale.to(wide), bias), at::stack({used, own})};
}

PowerNormForward power_norm_forward(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                                    const OptionalTensor& padding, Tensor statistics, Tensor counters, double momentum,
                                    double, double eps, int64_t warmup) {
  return power_norm_over(input, weight, bias, padding, statistics, counters, momentum, eps, warmup, nullptr);
}

PowerNormBackward power_norm_backward_over(const Tensor& grad, const Tensor& input, const OptionalTensor& weight,
                                           const OptionalTensor& padding, const Tensor& scales, Tensor statistics,
                                           double momentum, double eps, Replicas* replicas) {
  check_gradient(grad, input, weight, padding, scales, statistics);
  const auto wide = statistics.scalar_type();
  const Tensor inverse = at::rsqrt(scales.select(0, 0) + eps), own = scales.select(0, 1);
  const Tensor own_inverse = at::rsqrt(own + eps);
  const passes::GradientSums all = passes::gradient_sums(grad, input, {}, wide);
  const passes::GradientSums valid = padding ? passes::gradient_sums(grad, input, padding, wide) : all;

  Tensor gradient_mean = statistics.select(0, PowerNormState::kGradientMean);
  const Tensor pull = (1 - momentum) * gradient_mean;  // a = dy·w − pull·z
  const auto [mean_of, none] = passes::mean_over_tokens(valid.grad_input * inverse, input, padding, replicas);
  const Tensor mean_gz = weight ? mean_of * *weight : mean_of;
  passes::StateKept kept({gradient_mean}, none);
  gradient_mean.add_(mean_gz - pull * own * inverse.square());
  kept.restore();

  const Tensor grad_scale = weight ? own_inverse * *weight : own_inverse;
  const Tensor dx = passes::scale_subtract(grad, grad_scale.to(wide), input, pull * inverse * own_inverse);
  return {dx, all.grad_input * inverse, all.grad};
}

PowerNormBackward power_norm_backward(const Tensor& grad, const Tensor& input, const OptionalTensor& weight,
                                      const OptionalTensor& padding, const Tensor& scales, Tensor statistics,
                                      double momentum, double eps) {
  return power_norm_backward_over(grad, input, weight, padding, scales, statistics, momentum, eps, nullptr);
}

PowerNormForward power_norm_meta(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                                 const OptionalTensor& padding, Tensor statistics, Tensor counters, double, double,
                                 double, int64_t) {
  check_power_norm(input, weight, bias, padding, statistics, counters);
  return {empty_as(input), at::empty_symint({2, input.sym_size(-1)}, statistics.options())};
}

PowerNormBackward power_norm_backward_meta(const Tensor& grad, const Tensor& input, const OptionalTensor& weight,
                                           const OptionalTensor& padding, const Tensor& scales, Tensor statistics,
                                           double, double) {
  check_gradient(grad, input, weight, padding, scales, statistics);
  const auto channels = [&] { return at::empty_symint({input.sym_size(-1)}, statistics.options()); };
  return {empty_as(input), channels(), channels()};
}

// --- gradient --------------------------------------------------------------------------------------------------------

PowerNormForward call_forward(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                              const OptionalTensor& padding, Tensor statistics, Tensor counters, double momentum,
                              double backward_momentum, double eps, int64_t warmup) {
  static const auto op = operator_handle<decltype(power_norm_forward)>("cachet::power_norm");
  return op.call(input, weight, bias, padding, statistics, counters, momentum, backward_momentum, eps, warmup);
}

struct PowerNorm : torch::autograd::Function<PowerNorm> {
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* ctx, const Tensor& input,
                                                const OptionalTensor& weight, const OptionalTensor& bias,
                                                const OptionalTensor& padding, const Tensor& statistics,
                                                const Tensor& counters, double momentum, double backward_momentum,
                                                double eps, int64_t warmup, const std::shared_ptr<Replicas>& replicas) {
    at::AutoDispatchBelowADInplaceOrView below;
    const auto [y, scales] = replicas ? power_norm_over(input, weight, bias, padding, statistics, counters, momentum,
                                                        eps, warmup, replicas.get())
                                      : call_forward(input, weight, bias, padding, statistics, counters, momentum,
                                                     backward_momentum, eps, warmup);
    if (replicas) ctx->saved_data["replicas"] = hold(replicas);
    ctx->save_for_backward({input, weight.value_or(Tensor()), padding.value_or(Tensor()), scales});
    // The state is written by later passes too, so it is held as it is and not as a saved variable.
    ctx->saved_data["statistics"] = statistics;
    ctx->saved_data["momentum"] = backward_momentum;
    ctx->saved_data["eps"] = eps;
    ctx->saved_data["bias"] = bias.has_value();
    ctx->mark_non_differentiable({scales});
    return {y, scales};
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list grads) {
    static const auto op = operator_handle<decltype(power_norm_backward)>("cachet::power_norm_backward");
    const auto saved = ctx->get_saved_variables();
    const auto present = [](const Tensor& t) { return t.defined() ? OptionalTensor(t) : std::nullopt; };
    auto& data = ctx->saved_data;
    const Tensor dy = grads[0].defined() ? grads[0] : at::zeros_like(saved[0]);
    const auto replicas = data.find("replicas");
    const auto gradients = [&](const auto& call, auto... last) {
      return call(dy, saved[0], present(saved[1]), present(saved[2]), saved[3], data["statistics"].toTensor(),
                  data["momentum"].toDouble(), data["eps"].toDouble(), last...);
    };
    const auto [dx, dw, db] = replicas == data.end()
                                  ? gradients([&](const auto&... operands) { return op.call(operands...); })
                                  : gradients(power_norm_backward_over, held_replicas(replicas->second));
    torch::autograd::variable_list all{dx, saved[1].defined() ? dw : Tensor(), data["bias"].toBool() ? db : Tensor()};
    all.resize(11);
    return all;
  }
};

PowerNormForward power_norm_autograd(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                                     const OptionalTensor& padding, Tensor statistics, Tensor counters, double momentum,
                                     double backward_momentum, double eps, int64_t warmup) {
  const auto out = PowerNorm::apply(input, weight, bias, padding, statistics, counters, momentum, backward_momentum,
                                    eps, warmup, nullptr);
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
                           const std::shared_ptr<Replicas>& replicas) {
  if (replicas) {
    const auto out = PowerNorm::apply(input, weight, bias, padding, state.statistics, state.counters,
                                      s.forward_momentum, s.backward_momentum, s.eps, s.warmup, replicas);
    return {out[0], out[1].select(0, 0), out[1].select(0, 1)};
  }
  const auto [output, scales] = call_forward(input, weight, bias, padding, state.statistics, state.counters,
                                             s.forward_momentum, s.backward_momentum, s.eps, s.warmup);
  return {output, scales.select(0, 0), scales.select(0, 1)};
}

TORCH_LIBRARY_FRAGMENT(cachet, m) {
  Operator(m,
           "power_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? padding, Tensor(a!) statistics, "
           "Tensor(b!) counters, float momentum, float backward_momentum, float eps, int warmup) -> (Tensor, Tensor)")
      .composite(power_norm_forward)
      .meta(power_norm_meta)
      .autograd(power_norm_autograd);
  Operator(m,
           "power_norm_backward(Tensor grad, Tensor input, Tensor? weight, Tensor? padding, Tensor scales, "
           "Tensor(a!) statistics, float momentum, float eps) -> (Tensor, Tensor, Tensor)")
      .composite(power_norm_backward)
      .meta(power_norm_backward_meta)
      .without_gradient("power_norm", kSmoothedOnce);
}

}  // namespace cachet::ops
