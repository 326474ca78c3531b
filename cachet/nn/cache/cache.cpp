#include "cachet/nn/cache/cache.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros_like.h>

namespace cachet::nn {

Memory Cache::constant_memory() const {
  const auto varies = why_memory_varies();
  TORCH_CHECK(!varies, *varies);
  const Memory stored = stored_memory();
  return {stored.tokens.detach().clone(), stored.layout};
}

torch::Tensor Cache::mean_over_replicas(const torch::Tensor& mean, int64_t samples) const {
  if (!replicas()) return mean;
  const torch::Tensor sum = samples > 0 ? mean * samples : at::zeros_like(mean);
  const torch::Tensor count = at::full({}, samples, mean.options().requires_grad(false));
  return ops::sum_over(sum, replicas()) / ops::sum_over(count, replicas());
}

}  // namespace cachet::nn
