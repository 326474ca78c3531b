#include "cachet/nn/norm/unified_norm.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <array>
#include <limits>
#include <utility>

namespace cachet::nn {
using State = ops::UnifiedNormState;
namespace {

constexpr config::Range<int64_t> kWindow{1, 1024};
constexpr std::array<config::Choice<UnifiedNormVariant>, 2> kVariants{
    {{"paper", UnifiedNormVariant::paper}, {"official", UnifiedNormVariant::official}}};
constexpr std::array<config::Choice<ops::WindowMean>, 3> kMeans{{{"geometric", ops::WindowMean::geometric},
                                                                 {"arithmetic", ops::WindowMean::arithmetic},
                                                                 {"none", ops::WindowMean::none}}};
constexpr std::array<config::Choice<ops::OutlierThreshold>, 2> kThresholds{
    {{"pooled", ops::OutlierThreshold::pooled}, {"channel", ops::OutlierThreshold::channel}}};

UnifiedNormOptions read_unified_norm(const config::View& table) {
  UnifiedNormOptions options;
  ops::UnifiedNormSettings& s = options.settings;
  options.variant = table.choice("variant", options.variant, kVariants);
  s.forward_window = table.integer("window", s.forward_window, kWindow);
  s.backward_window = table.integer("backward_window", s.forward_window, kWindow);
  s.forward_momentum = table.real("momentum", s.forward_momentum, NormRanges::kMomentum);
  s.backward_momentum = table.real("backward_momentum", s.forward_momentum, NormRanges::kMomentum);
  s.eps = table.real("eps", s.eps, NormRanges::kEps);
  const config::CountOrFraction warmup = read_warmup(table, s.warmup);
  s.warmup = warmup.count;
  options.warmup_percent = warmup.percent;
  s.filter_outliers = table.boolean("filter_outliers", s.filter_outliers);
  s.forward_mean = table.choice("forward_mean", s.forward_mean, kMeans);
  s.threshold = table.choice("threshold", s.threshold, kThresholds);
  if (s.threshold == ops::OutlierThreshold::pooled) return options;
  if (!s.filter_outliers)
    table.problem("threshold", "'channel' has no effect without the filter; set filter_outliers = true");
  if (s.forward_window < 2)
    table.problem("threshold", "'channel' compares the steps of a window; set window to 2 or more");
  return options;
}

MovingAverageBatchNormOptions read_moving_average_batch_norm(const config::View& table) {
  MovingAverageBatchNormOptions o;
  o.window = table.integer("window", o.window, kWindow);
  o.momentum = table.real("momentum", o.momentum, NormRanges::kMomentum);
  o.eps = table.real("eps", o.eps, NormRanges::kEps);
  const config::CountOrFraction warmup = read_warmup(table, o.warmup);
  o.warmup = warmup.count;
  o.warmup_percent = warmup.percent;
  return o;
}

template <class Options>
std::shared_ptr<Norm> make_unified_norm(const Options& options, int64_t channels, double /*default_eps*/) {
  return std::make_shared<UnifiedNorm>(channels, unified_norm_settings(options), options.warmup_percent);
}

}  // namespace

constinit const NormKind<UnifiedNormOptions> UnifiedNormOptions::kKind{.name = "un",
                                                                       .read = read_unified_norm,
                                                                       .make = make_unified_norm<UnifiedNormOptions>,
                                                                       .statistics = NormStatistics::batch,
                                                                       .exports = Export::traced};

constinit const NormKind<MovingAverageBatchNormOptions> MovingAverageBatchNormOptions::kKind{
    .name = "mabn",
    .read = read_moving_average_batch_norm,
    .make = make_unified_norm<MovingAverageBatchNormOptions>,
    .statistics = NormStatistics::batch,
    .exports = Export::traced};

ops::UnifiedNormSettings unified_norm_settings(const UnifiedNormOptions& options) {
  ops::UnifiedNormSettings settings = options.settings;
  settings.official = options.variant == UnifiedNormVariant::official;
  return settings;
}

ops::UnifiedNormSettings unified_norm_settings(const MovingAverageBatchNormOptions& options) {
  ops::UnifiedNormSettings settings;
  settings.forward_window = settings.backward_window = options.window;
  settings.forward_momentum = options.momentum;
  settings.backward_momentum = 0;
  settings.eps = options.eps;
  settings.warmup = options.warmup;
  settings.filter_outliers = false;
  settings.forward_mean = ops::WindowMean::arithmetic;
  settings.official = settings.rescale = true;
  return settings;
}

UnifiedNorm::UnifiedNorm(int64_t channels, const ops::UnifiedNormSettings& settings, double warmup_percent)
    : Cloneable("UnifiedNorm"), settings_(settings), warmup_percent_(warmup_percent) {
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
  check_warmup(warmup_percent_);
  const auto [y, used, on_own] =
      ops::unified_norm(x, weight, bias, token_mask.defined() ? std::optional(token_mask) : std::nullopt,
                        {statistics, counters}, settings_, reducer());
  if (observed({Signal::statistic, Signal::used_statistic, Signal::gradient_statistic}))
    tell_statistics(x, used, on_own);
  return y;
}

torch::Tensor UnifiedNorm::renewing_forward(const torch::Tensor& x, const torch::Tensor& token_mask) {
  ops::UnifiedNormSettings own = settings_;
  own.warmup = std::numeric_limits<int64_t>::max();  // the batch's own statistic, which no filter judges
  const State fresh = ops::initial_unified_norm_state(x.size(-1), own, statistics.options());
  const auto [y, used, on_own] = ops::unified_norm(
      x, weight, bias, token_mask.defined() ? std::optional(token_mask) : std::nullopt, fresh, own, reducer());
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
  // The slot is found on the device: the host does not wait for the counter.
  const torch::Tensor step = counters.select(0, State::kSteps);
  const auto row_of_ring = [&](int64_t first, int64_t window) { return (step.remainder(window) + first).view({1}); };
  const torch::Tensor row = row_of_ring(State::kForwardRing, settings_.forward_window);
  notify(Signal::statistic, at::where(on_own, used, statistics.index_select(0, row)[0]));
  notify(Signal::used_statistic, used);
  if (!input.requires_grad()) return;
  input.register_hook([this,
                       row = row_of_ring(State::kForwardRing + settings_.forward_window, settings_.backward_window),
                       on_own](const torch::Tensor& grad) {
    const torch::Tensor slot = statistics.index_select(0, row)[0];
    const double momentum = settings_.backward_momentum;
    // ψ' = α·ψ + (1 − α)·own, and the slot holds ψ.
    const torch::Tensor own =
        momentum < 1 ? (statistics.select(0, State::kGradientMean) - momentum * slot) / (1 - momentum) : slot;
    notify(Signal::gradient_statistic, at::where(on_own, own, slot));
    return grad;
  });
}

std::optional<Affine> UnifiedNorm::inference_affine() const {
  return Affine{weight * at::rsqrt(statistics.select(0, State::kRunning) + settings_.eps), bias.clone()};
}

std::optional<NormWindowUse> UnifiedNorm::window_use() const {
  return NormWindowUse{steps(), steps_on_window(), steps_filtered(), filters_channels()};
}

int64_t UnifiedNorm::steps() const { return counters[State::kSteps].item<int64_t>(); }
double UnifiedNorm::steps_on_window() const { return counted(State::kOnWindow); }
double UnifiedNorm::steps_filtered() const { return counted(State::kFiltered); }
double UnifiedNorm::counted(int64_t counter) const {
  const auto count = static_cast<double>(counters[counter].item<int64_t>());
  return filters_channels() ? count / static_cast<double>(weight.size(0)) : count;
}
void UnifiedNorm::restart_warmup() { counters.select(0, State::kSteps).zero_(); }
std::optional<int64_t> UnifiedNorm::settle_warmup(int64_t updates) {
  if (warmup_percent_ <= 0) return std::nullopt;
  settings_.warmup = config::settled_count(std::exchange(warmup_percent_, 0), updates);
  return settings_.warmup;
}

}  // namespace cachet::nn
