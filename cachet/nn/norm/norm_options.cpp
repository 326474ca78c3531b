#include "cachet/nn/norm/norm_options.h"

#include <array>

#include "cachet/nn/norm/batch_norm.h"
#include "cachet/nn/norm/layer_norm.h"
#include "cachet/nn/norm/no_norm.h"
#include "cachet/nn/norm/rms_norm.h"
#include "cachet/nn/norm/unified_norm.h"

namespace cachet::nn {
namespace {

enum class NormKind { layer, rms, batch, unified, none };

constexpr std::array<config::Choice<NormKind>, 5> kNormKinds{{{"layer", NormKind::layer},
                                                              {"rms", NormKind::rms},
                                                              {"batch", NormKind::batch},
                                                              {"un", NormKind::unified},
                                                              {"none", NormKind::none}}};
constexpr std::array<config::Choice<UnifiedNormVariant>, 2> kVariants{
    {{"paper", UnifiedNormVariant::paper}, {"official", UnifiedNormVariant::official}}};

constexpr config::Range<double> kEps{0.0, 1.0, /*least_excluded=*/true};
constexpr config::Range<double> kMomentum{0.0, 1.0};
constexpr config::Range<int64_t> kWindow{1, 1024};

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
  s.warmup = table.integer("warmup", s.warmup, {0, 1'000'000'000});
  s.filter_outliers = table.boolean("filter_outliers", s.filter_outliers);
  enum class ForwardMean { geometric, none };
  constexpr std::array<config::Choice<ForwardMean>, 2> means{
      {{"geometric", ForwardMean::geometric}, {"none", ForwardMean::none}}};
  s.geometric_mean = table.choice("forward_mean", ForwardMean::geometric, means) == ForwardMean::geometric;
  return options;
}

template <class... Visitors>
struct NormVisitor : Visitors... {
  using Visitors::operator()...;
};

}  // namespace

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
                        [&](const UnifiedNormOptions& o) -> Made { return std::make_shared<UnifiedNorm>(channels, o); },
                        [&](const NoNormOptions&) -> Made { return std::make_shared<NoNorm>(channels); },
                    },
                    options);
}

}  // namespace cachet::nn
