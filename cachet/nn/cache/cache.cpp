#include "cachet/nn/cache/cache.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>

namespace cachet::nn {

torch::Tensor Cache::stored_tokens() const {
  const auto held = named_buffers(/*recurse=*/false);
  const torch::Tensor* tokens = held.find(kTokens);
  return tokens ? *tokens : torch::Tensor();
}

void Cache::reset() {
  const at::NoGradGuard no_grad;
  // Buffers of its own alone: parts may have statistics.
  for (at::Tensor& held : buffers(/*recurse=*/false)) held.zero_();
}

Memory Cache::constant_memory() const {
  const auto varies = why_memory_varies();
  TORCH_CHECK(!varies, *varies);
  const Memory stored = stored_memory();
  return {stored.tokens.detach().clone(), stored.layout};
}

torch::Tensor Cache::mean_over_replicas(const torch::Tensor& mean, int64_t samples) const {
  if (!reducer()) return mean;
  // The mean of none is not a number; the graph stays, for the other processes wait for this one's part in the backward
  // pass too.
  const torch::Tensor none = at::full({}, samples == 0, mean.options().dtype(at::kBool).requires_grad(false));
  const torch::Tensor sum = mean.masked_fill(none, 0) * samples;
  const torch::Tensor count = at::full({}, samples, mean.options().requires_grad(false));
  return ops::sum_over(sum, reducer()) / ops::sum_over(count, reducer());
}

}  // namespace cachet::nn
