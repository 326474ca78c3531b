#include "cachet/nn/cache/reset_caches.h"

#include "cachet/nn/cache/cache.h"

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

}  // namespace cachet::nn
