#include "cachet/analysis/plug_ins/observations.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/tensor.h>

#include <optional>

#include "cachet/nn/attention/cached_attention.h"
#include "cachet/nn/norm/unified_norm.h"

namespace cachet::analysis {
namespace {

using State = ops::UnifiedNormState;

std::optional<UnifiedNormSteps> steps_of(const std::string& layer, const nn::Norm& norm) {
  if (const auto* unified = dynamic_cast<const nn::UnifiedNorm*>(&norm)) {
    const bool by_channel = unified->filters_channels();
    return UnifiedNormSteps{layer, unified->counters.detach(), by_channel, by_channel ? unified->weight.size(0) : 1};
  }
  const auto use = norm.window_use();
  if (!use) return std::nullopt;
  std::vector<double> numbers(State::kOnWindow + 1);
  numbers[State::kSteps] = static_cast<double>(use->steps);
  numbers[State::kFiltered] = use->filtered;
  numbers[State::kOnWindow] = use->on_window;
  return UnifiedNormSteps{layer, at::tensor(numbers, at::kDouble), use->by_channel, 1};
}

}  // namespace

nn::NormWindowUse UnifiedNormSteps::use(std::span<const double> numbers) const {
  const auto channels = static_cast<double>(channels_added);
  return {static_cast<int64_t>(numbers[State::kSteps]), numbers[State::kOnWindow] / channels,
          numbers[State::kFiltered] / channels, by_channel};
}

std::vector<CacheShare> cache_shares(const torch::nn::Module& model) {
  const at::NoGradGuard no_grad;
  std::vector<CacheShare> found;
  for (const auto& item : model.named_modules("", /*include_self=*/false)) {
    const auto* attention = dynamic_cast<const nn::CachedAttention*>(item.value().get());
    if (attention) found.push_back({item.key(), attention->mixing_logit.detach().to(at::kDouble).sigmoid()});
  }
  return found;
}

std::vector<UnifiedNormSteps> unified_norm_steps(const torch::nn::Module& model) {
  std::vector<UnifiedNormSteps> found;
  for (const auto& item : model.named_modules("", /*include_self=*/false)) {
    const auto* norm = dynamic_cast<const nn::Norm*>(item.value().get());
    if (auto steps = norm ? steps_of(item.key(), *norm) : std::nullopt) found.push_back(std::move(*steps));
  }
  return found;
}

}  // namespace cachet::analysis
