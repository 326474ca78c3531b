#include "cachet/analysis/plug_ins/cache_drift.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>

namespace cachet::analysis {

CacheDrift::CacheDrift(const torch::nn::Module& model) : caches_(stored_caches(model)) {
  for (const StoredCache& cache : caches_) {
    before_.push_back(cache.tokens.detach().clone());
    layers_.push_back({cache.layer, {}});
  }
}

void CacheDrift::step() {
  const at::NoGradGuard no_grad;
  for (size_t i = 0; i < caches_.size(); ++i) {
    const at::Tensor now = caches_[i].tokens.detach().clone();
    const auto norm = [](const at::Tensor& x) { return x.to(at::kDouble).norm().item<double>(); };
    layers_[i].steps.push_back(norm(now - before_[i]) / norm(now));
    before_[i] = now;
  }
}

}  // namespace cachet::analysis
