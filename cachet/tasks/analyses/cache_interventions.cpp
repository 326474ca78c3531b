#include "cachet/tasks/analyses/cache_interventions.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>

#include <map>
#include <vector>

#include "cachet/analysis/plug_ins/stored_caches.h"
#include "cachet/nn/cache/reset_caches.h"

namespace cachet::tasks {

int64_t zero_caches(torch::nn::Module& model) { return nn::reset_caches(model); }

int64_t rotate_caches(torch::nn::Module& model) {
  const at::NoGradGuard no_grad;
  std::map<std::vector<int64_t>, std::vector<at::Tensor>> by_shape;
  for (const analysis::StoredCache& cache : analysis::stored_caches(model))
    by_shape[cache.tokens.sizes().vec()].push_back(cache.tokens);
  int64_t changed = 0;
  for (auto& [shape, caches] : by_shape) {
    if (caches.size() < 2) continue;
    const at::Tensor first = caches.front().clone();
    for (size_t i = 0; i + 1 < caches.size(); ++i) caches[i].copy_(caches[i + 1]);
    caches.back().copy_(first);
    changed += static_cast<int64_t>(caches.size());
  }
  return changed;
}

int64_t take_caches(torch::nn::Module& model, const torch::nn::Module& other) {
  const at::NoGradGuard no_grad;
  const std::vector<analysis::StoredCache> theirs = analysis::stored_caches(other);
  int64_t changed = 0;
  for (analysis::StoredCache& cache : analysis::stored_caches(model))
    for (const analysis::StoredCache& given : theirs) {
      if (given.layer != cache.layer || given.tokens.sizes() != cache.tokens.sizes()) continue;
      cache.tokens.copy_(given.tokens);
      ++changed;
    }
  return changed;
}

}  // namespace cachet::tasks
