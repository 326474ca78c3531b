#include "cachet/nn/norm/unified_norm.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <limits>

namespace cachet::nn {
using State = ops::UnifiedNormState;

UnifiedNorm::UnifiedNorm(int64_t channels, const ops::UnifiedNormSettings& settings)
    : Cloneable("UnifiedNorm"), settings_(settings) {
  weight = register_parameter("weight", at::ones({channels}));
  bias = register_parameter("bias", at::zeros({channels}));
  const State state = ops::initial_unified_norm_state(channels, settings_);
  statistics = register_buffer("statistics", state.statistics);
  counters = register_buffer("counters", state.counters);
}

torch::Tensor UnifiedNorm::forward(const torch::Tensor& x, const torch::Tensor& token_mask) {
  check_channels("unified_norm", x, weight.size(0));
  if (!is_training()) return inference_affine()->apply(x);
  if (renewal_) return renewing_forward(x, token_mask);
  const auto [y, used, on_own] =
      ops::unified_norm(x, weight, bias, token_mask.defined() ? std::optional(token_mask) : std::nullopt,
                        {statistics, counters}, settings_, replicas());
  if (observed({Signal::statistic, Signal::used_statistic, Signal::gradient_statistic}))
    tell_statistics(x, used, on_own);
  return y;
}

torch::Tensor UnifiedNorm::renewing_forward(const torch::Tensor& x, const torch::Tensor& token_mask) {
  ops::UnifiedNormSettings own = settings_;
  own.warmup = std::numeric_limits<int64_t>::max();  // the batch's own statistic, which no filter judges
  const State fresh = ops::initial_unified_norm_state(x.size(-1), own, statistics.options());
  const auto [y, used, on_own] = ops::unified_norm(
      x, weight, bias, token_mask.defined() ? std::optional(token_mask) : std::nullopt, fresh, own, replicas());
  renewal_->add(fresh.counters.select(0, State::kSteps), {used});
  return y;
}

void UnifiedNorm::end_renewal() {
  renewal_->write({statistics.select(0, State::kRunning)});
  renewal_.reset();
}

void UnifiedNorm::tell_statistics(const torch::Tensor& input, const torch::Tensor& used, const torch::Tensor& on_own) {
  // A ring's slot of this step holds the step's own statistic, unless it was filtered: then the average that the step
  // left alone is there, and the step was normalised with its own.
  const int64_t step = steps(), gradient_ring = State::kForwardRing + settings_.forward_window;
  tell(Signal::statistic,
       at::where(on_own, used, statistics.select(0, State::kForwardRing + step % settings_.forward_window)));
  tell(Signal::used_statistic, used);
  if (!input.requires_grad()) return;
  input.register_hook(
      [this, row = gradient_ring + step % settings_.backward_window, on_own](const torch::Tensor& grad) {
        const torch::Tensor slot = statistics.select(0, row);
        const double momentum = settings_.backward_momentum;
        // ψ' = α·ψ + (1 − α)·own, and the slot holds ψ.
        const torch::Tensor own =
            momentum < 1 ? (statistics.select(0, State::kGradientMean) - momentum * slot) / (1 - momentum) : slot;
        tell(Signal::gradient_statistic, at::where(on_own, own, slot));
        return grad;
      });
}

std::optional<Affine> UnifiedNorm::inference_affine() const {
  return Affine{weight * at::rsqrt(statistics.select(0, State::kRunning) + settings_.eps), bias.clone()};
}

int64_t UnifiedNorm::steps() const { return counters[State::kSteps].item<int64_t>(); }
double UnifiedNorm::steps_on_window() const { return counted(State::kOnWindow); }
double UnifiedNorm::steps_filtered() const { return counted(State::kFiltered); }
double UnifiedNorm::counted(int64_t counter) const {
  const auto count = static_cast<double>(counters[counter].item<int64_t>());
  return filters_channels() ? count / static_cast<double>(weight.size(0)) : count;
}
void UnifiedNorm::restart_warmup() { counters.select(0, State::kSteps).zero_(); }

}  // namespace cachet::nn
