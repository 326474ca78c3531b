#include "cachet/analysis/plug_ins/stored_caches.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/matmul.h>

#include "cachet/nn/cache/cache.h"

namespace cachet::analysis {

std::vector<StoredCache> stored_caches(const torch::nn::Module& model) {
  std::vector<StoredCache> found;
  for (const auto& item : model.named_modules("", /*include_self=*/false)) {
    const auto* cache = dynamic_cast<const nn::Cache*>(item.value().get());
    if (cache == nullptr) continue;
    if (const at::Tensor tokens = cache->stored_tokens(); tokens.defined()) found.push_back({item.key(), tokens});
  }
  return found;
}

at::Tensor size_of(const StoredCache& cache) {
  const at::NoGradGuard no_grad;
  return cache.tokens.to(at::kDouble).square().mean().sqrt();
}

at::Tensor similarity_of_places(const at::Tensor& tokens) {
  const at::NoGradGuard no_grad;
  TORCH_CHECK(tokens.dim() == 3 && tokens.size(0) == 1, "similarity_of_places: the cache must be (1, Tm, Dm), got ",
              tokens.sizes());
  const at::Tensor entries = tokens[0].to(at::kCPU, at::kDouble);
  const at::Tensor unit = entries / entries.norm(2, {1}, /*keepdim=*/true);
  return at::matmul(unit, unit.t());
}

double mean_similarity(const at::Tensor& similarity) {
  const at::Tensor other = at::eye(similarity.size(0), similarity.options()).eq(0);
  return similarity.masked_select(other).nanmean().item<double>();
}

}  // namespace cachet::analysis
