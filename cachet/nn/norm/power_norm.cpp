#include "cachet/nn/norm/power_norm.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rms_norm.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/zeros.h>

#include <limits>
#include <utility>

#include "cachet/nn/norm/rms_norm.h"

namespace cachet::nn {
namespace {

PowerNormOptions read_power_norm(const config::View& table) {
  PowerNormOptions o;
  ops::PowerNormSettings& s = o.settings;
  s.forward_momentum = table.real("momentum", s.forward_momentum, NormRanges::kMomentum);
  s.backward_momentum = table.real("backward_momentum", s.forward_momentum, NormRanges::kMomentum);
  s.eps = table.real("eps", s.eps, NormRanges::kEps);
  const config::CountOrFraction warmup = read_warmup(table, s.warmup);
  s.warmup = warmup.count;
  o.warmup_percent = warmup.percent;
  o.group_scaling = table.boolean("group_scaling", o.group_scaling);
  return o;
}

}  // namespace

constinit const NormKind<PowerNormOptions> PowerNormOptions::kKind{
    .name = "pn",
    .read = read_power_norm,
    .make = [](const PowerNormOptions& o, int64_t channels, double) -> std::shared_ptr<Norm> {
      return std::make_shared<PowerNorm>(channels, o);
    },
    .statistics = NormStatistics::batch,
    .exports = Export::traced};

PowerNorm::PowerNorm(int64_t channels, const PowerNormOptions& options) : Cloneable("PowerNorm"), options_(options) {
  weight = register_parameter("weight", at::ones({channels}));
  bias = register_parameter("bias", at::zeros({channels}));
  const ops::PowerNormState state = ops::initial_power_norm_state(channels);
  statistics = register_buffer("statistics", state.statistics);
  counters = register_buffer("counters", state.counters);
}

torch::Tensor PowerNorm::forward(const torch::Tensor& x, const torch::Tensor& token_mask) {
  check_channels("power_norm", x, weight.size(0));
  const torch::Tensor scaled =
      options_.group_scaling ? at::rms_norm(x, {x.size(-1)}, std::nullopt, options_.settings.eps) : x;
  if (!is_training()) return running_affine().apply(scaled);
  if (renewal_) return renewing_forward(scaled, token_mask);
  check_warmup(options_.warmup_percent);
  const auto [y, used, own] =
      ops::power_norm(scaled, weight, bias, token_mask.defined() ? std::optional(token_mask) : std::nullopt,
                      {statistics, counters}, options_.settings, reducer());
  if (observed({Signal::statistic, Signal::used_statistic, Signal::gradient_statistic})) {
    notify(Signal::statistic, own);
    notify(Signal::used_statistic, used);
    if (scaled.requires_grad()) tell_gradient_statistic(scaled, used, own);
  }
  return y;
}

torch::Tensor PowerNorm::renewing_forward(const torch::Tensor& scaled, const torch::Tensor& token_mask) {
  ops::PowerNormSettings own = options_.settings;
  own.warmup = std::numeric_limits<int64_t>::max();
  const ops::PowerNormState fresh = ops::initial_power_norm_state(scaled.size(-1), statistics.options());
  const auto [y, used, statistic] = ops::power_norm(
      scaled, weight, bias, token_mask.defined() ? std::optional(token_mask) : std::nullopt, fresh, own, reducer());
  renewal_->add(fresh.counters.select(0, 0), {statistic});
  return y;
}

void PowerNorm::end_renewal() {
  renewal_->write({statistics.select(0, ops::PowerNormState::kRunning)});
  renewal_.reset();
}

std::optional<int64_t> PowerNorm::settle_warmup(int64_t updates) {
  if (options_.warmup_percent <= 0) return std::nullopt;
  options_.settings.warmup = config::settled_count(std::exchange(options_.warmup_percent, 0), updates);
  return options_.settings.warmup;
}

void PowerNorm::tell_gradient_statistic(const torch::Tensor& input, const torch::Tensor& used,
                                        const torch::Tensor& own) {
  // Γ' = Γ + mean(g·z) − (1 − α)·Γ·mean z², of which the first mean is the step's own.
  const torch::Tensor before = statistics.select(0, ops::PowerNormState::kGradientMean).clone();
  const torch::Tensor pull = (1 - options_.settings.backward_momentum) * own / (used + options_.settings.eps);
  input.register_hook([this, before, pull](const torch::Tensor& grad) {
    const torch::Tensor after = statistics.select(0, ops::PowerNormState::kGradientMean);
    notify(Signal::gradient_statistic, after - before + pull * before);
    return grad;
  });
}

Affine PowerNorm::running_affine() const {
  return {weight * at::rsqrt(statistics.select(0, ops::PowerNormState::kRunning) + options_.settings.eps),
          bias.clone()};
}

std::optional<Affine> PowerNorm::inference_affine() const {
  if (options_.group_scaling) return std::nullopt;
  return running_affine();
}

SplitNorm PowerNorm::split() const {
  if (!options_.group_scaling) return Norm::split();
  const auto core = std::make_shared<RMSNorm>(weight.size(0), options_.settings.eps);
  core->to(weight.device(), weight.scalar_type());
  core->train(is_training());
  return {core, running_affine()};
}

}  // namespace cachet::nn
