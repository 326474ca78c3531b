#include "cachet/analysis/plug_ins/observations.h"

#include <ATen/TensorOperators.h>

#include "cachet/nn/attention/cached_attention.h"
#include "cachet/nn/norm/norm.h"

namespace cachet::analysis {

std::vector<CacheShare> cache_shares(const torch::nn::Module& model) {
  std::vector<CacheShare> found;
  for (const auto& item : model.named_modules("", /*include_self=*/false)) {
    const auto* attention = dynamic_cast<const nn::CachedAttention*>(item.value().get());
    if (!attention) continue;
    const at::Tensor shares = attention->share.detach().to(at::kCPU, at::kDouble).sigmoid().contiguous();
    const double* values = shares.const_data_ptr<double>();
    found.push_back({item.key(), {values, values + shares.numel()}});
  }
  return found;
}

std::vector<UnifiedNormSteps> unified_norm_steps(const torch::nn::Module& model) {
  std::vector<UnifiedNormSteps> found;
  for (const auto& item : model.named_modules("", /*include_self=*/false)) {
    const auto* norm = dynamic_cast<const nn::Norm*>(item.value().get());
    const auto use = norm ? norm->window_use() : std::nullopt;
    if (use) found.push_back({item.key(), use->steps, use->on_window, use->filtered, use->by_channel});
  }
  return found;
}

}  // namespace cachet::analysis
