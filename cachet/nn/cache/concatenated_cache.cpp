#include "cachet/nn/cache/concatenated_cache.h"

#include <ATen/TracerMode.h>
#include <c10/core/GradMode.h>

#include "cachet/nn/initialization.h"
#include "cachet/nn/option_checks.h"
#include "cachet/ops/resize_tokens.h"

namespace cachet::nn {

ConcatenatedCache::ConcatenatedCache(int64_t dim, int64_t length) : Cloneable("ConcatenatedCache") {
  check_positive("concatenated_cache: dim", dim);
  TORCH_CHECK(length >= 1, "concatenated_cache: has as many entries as the layer has keys, of which there are ",
              length);
  tokens = register_buffer("tokens", zeros({1, length, dim}));
}

Memory ConcatenatedCache::step(const torch::Tensor& input, const torch::Tensor&, const AttentionLayout& layout) {
  const torch::Tensor previous = tokens.detach().clone();    // the backward pass needs what was read
  if (is_training() && (input.size(0) > 0 || replicas())) {  // no samples have no mean
    const at::NoGradGuard no_grad;
    std::optional<torch::Tensor> padding;
    if (layout.context.padding.defined()) padding = layout.context.padding;
    const torch::Tensor x = ops::resize_tokens(input.to(tokens.scalar_type()), tokens.size(1), padding);
    tokens.copy_(mean_over_replicas(x.mean(0, /*keepdim=*/true), x.size(0)));
  }
  return {previous, {}};
}

void ConcatenatedCache::fill() {
  const at::NoGradGuard no_grad;
  if (!holds_step()) tokens.normal_();
}

bool ConcatenatedCache::holds_values(const torch::Tensor& tensor) {
  if (tensor.is_meta()) return true;
  const at::tracer::impl::NoTracerDispatchMode no_step_of_a_graph;
  return tensor.any().item<bool>();
}

}  // namespace cachet::nn
