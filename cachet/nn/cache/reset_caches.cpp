#include "cachet/nn/cache/reset_caches.h"

#include "cachet/nn/cache/cache.h"
#include "cachet/nn/cache/concatenated_cache.h"

namespace cachet::nn {

int64_t reset_caches(torch::nn::Module& model) {
  int64_t caches = 0;
  for (const auto& module : model.modules()) {
    auto* cache = dynamic_cast<Cache*>(module.get());
    if (cache == nullptr) continue;
    ++caches;
    cache->reset();
  }
  return caches;
}

void fill_caches(torch::nn::Module& model) {
  for (const auto& module : model.modules(/*include_self=*/false))
    if (auto* cache = dynamic_cast<ConcatenatedCache*>(module.get())) cache->fill();
}

}  // namespace cachet::nn
