#include "cachet/nn/norm/norm_options.h"

#include <array>

#include "cachet/nn/norm/batch_norm.h"
#include "cachet/nn/norm/layer_norm.h"
#include "cachet/nn/norm/no_norm.h"
#include "cachet/nn/norm/power_norm.h"
#include "cachet/nn/norm/rms_norm.h"
#include "cachet/nn/norm/unified_norm.h"

namespace cachet::nn {
namespace {

enum class NormKind { layer, rms, batch, unified, moving_average, power, none };

constexpr std::array<config::Choice<NormKind>, 7> kNormKinds{{{"layer", NormKind::layer},
                                                              {"rms", NormKind::rms},
                                                              {"batch", NormKind::batch},
                                                              {"un", NormKind::unified},
                                                              {"mabn", NormKind::moving_average},
                                                              {"pn", NormKind::power},
                                                              {"none", NormKind::none}}};
constexpr std::array<config::Choice<UnifiedNormVariant>, 2> kVariants{
    {{"paper", UnifiedNormVariant::paper}, {"official", UnifiedNormVariant::official}}};

// A smaller one is 0 in float32, where a token of equal channels would be divided by it.
constexpr config::Range<double> kEps{1e-30, 1.0};
constexpr config::Range<double> kMomentum{0.0, 1.0};
constexpr config::Range<int64_t> kWindow{1, 1024};
constexpr config::Range<int64_t> kWarmup{0, 1'000'000'000};

std::optional<double> read_eps(const config::View& table) {
  if (!table.has("eps")) return std::nullopt;
  return table.real("eps", 1e-6, kEps);
}

UnifiedNormOptions read_unified(const config::View& table) {
  UnifiedNormOptions options;
  ops::UnifiedNormSettings& s = options.settings;
  options.variant = table.choice("variant", options.variant, kVariants);
  s.forward_window = table.integer("window", s.forward_window, kWindow);
  s.backward_window = table.integer("backward_window", s.forward_window, kWindow);
  s.forward_momentum = table.real("momentum", s.forward_momentum, kMomentum);
  s.backward_momentum = table.real("backward_momentum", s.forward_momentum, kMomentum);
  s.eps = table.real("eps", s.eps, kEps);
  s.warmup = table.integer("warmup", s.warmup, kWarmup);
  s.filter_outliers = table.boolean("filter_outliers", s.filter_outliers);
  constexpr std::array<config::Choice<ops::WindowMean>, 3> means{{{"geometric", ops::WindowMean::geometric},
                                                                  {"arithmetic", ops::WindowMean::arithmetic},
                                                                  {"none", ops::WindowMean::none}}};
  s.forward_mean = table.choice("forward_mean", s.forward_mean, means);
  constexpr std::array<config::Choice<ops::OutlierThreshold>, 2> thresholds{
      {{"pooled", ops::OutlierThreshold::pooled}, {"channel", ops::OutlierThreshold::channel}}};
  s.threshold = table.choice("threshold", s.threshold, thresholds);
  if (s.threshold == ops::OutlierThreshold::pooled) return options;
  if (!s.filter_outliers)
    table.problem("threshold", "'channel' has no effect without the filter; set filter_outliers = true");
  if (s.forward_window < 2)
    table.problem("threshold", "'channel' compares the steps of a window; set window = 2 or more");
  return options;
}

MovingAverageBatchNormOptions read_moving_average(const config::View& table) {
  MovingAverageBatchNormOptions o;
  o.window = table.integer("window", o.window, kWindow);
  o.momentum = table.real("momentum", o.momentum, kMomentum);
  o.eps = table.real("eps", o.eps, kEps);
  o.warmup = table.integer("warmup", o.warmup, kWarmup);
  return o;
}

PowerNormOptions read_power(const config::View& table) {
  PowerNormOptions o;
  ops::PowerNormSettings& s = o.settings;
  s.forward_momentum = table.real("momentum", s.forward_momentum, kMomentum);
  s.backward_momentum = table.real("backward_momentum", s.forward_momentum, kMomentum);
  s.eps = table.real("eps", s.eps, kEps);
  s.warmup = table.integer("warmup", s.warmup, kWarmup);
  o.group_scaling = table.boolean("group_scaling", o.group_scaling);
  return o;
}

template <class... Visitors>
struct NormVisitor : Visitors... {
  using Visitors::operator()...;
};

}  // namespace

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

NormOptions read_norm_options(const config::View& table) {
  switch (table.choice("kind", NormKind::layer, kNormKinds)) {
    case NormKind::layer:
      return LayerNormOptions{read_eps(table)};
    case NormKind::rms:
      return RMSNormOptions{read_eps(table)};
    case NormKind::batch:
      return BatchNormOptions{table.real("eps", 1e-5, kEps), table.real("momentum", 0.1, kMomentum)};
    case NormKind::unified:
      return read_unified(table);
    case NormKind::moving_average:
      return read_moving_average(table);
    case NormKind::power:
      return read_power(table);
    case NormKind::none:
      break;
  }
  return NoNormOptions{};
}

std::shared_ptr<Norm> make_norm(const NormOptions& options, int64_t channels, double default_eps) {
  using Made = std::shared_ptr<Norm>;
  return std::visit(NormVisitor{
                        [&](const LayerNormOptions& o) -> Made {
                          return std::make_shared<LayerNorm>(channels, o.eps.value_or(default_eps));
                        },
                        [&](const RMSNormOptions& o) -> Made {
                          return std::make_shared<RMSNorm>(channels, o.eps.value_or(default_eps));
                        },
                        [&](const BatchNormOptions& o) -> Made { return std::make_shared<BatchNorm>(channels, o); },
                        [&](const UnifiedNormOptions& o) -> Made {
                          return std::make_shared<UnifiedNorm>(channels, unified_norm_settings(o));
                        },
                        [&](const MovingAverageBatchNormOptions& o) -> Made {
                          return std::make_shared<UnifiedNorm>(channels, unified_norm_settings(o));
                        },
                        [&](const PowerNormOptions& o) -> Made { return std::make_shared<PowerNorm>(channels, o); },
                        [&](const NoNormOptions&) -> Made { return std::make_shared<NoNorm>(channels); },
                    },
                    options);
}

}  // namespace cachet::nn
