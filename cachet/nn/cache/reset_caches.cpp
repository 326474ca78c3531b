#include "cachet/nn/cache/reset_caches.h"

#include "cachet/nn/cache/cache.h"

namespace cachet::nn {

int64_t reset_caches(torch::nn::Module& model) {
  const at::NoGradGuard no_grad;
  int64_t caches = 0;
  for (const auto& module : model.modules()) {
    const auto* cache = dynamic_cast<const Cache*>(module.get());
    if (cache == nullptr) continue;
    ++caches;
    // Buffers of its own alone: parts may have statistics.
    for (at::Tensor& held : module->buffers(/*recurse=*/false)) held.zero_();
  }
  return caches;
}

}  // namespace cachet::nn
