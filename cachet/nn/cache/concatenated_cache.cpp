#include "cachet/nn/cache/concatenated_cache.h"

#include <c10/core/GradMode.h>

#include <string>

#include "cachet/nn/base/initialization.h"
#include "cachet/nn/base/option_checks.h"
#include "cachet/ops/tokens/resize_tokens.h"

namespace cachet::nn {
namespace {

// The keys that other caches have, and why this one does not.
ConcatenatedCacheOptions read_concatenated_cache(const config::View& table, Sessions sessions) {
  if (sessions == Sessions::batch_rows) table.problem("kind", kConcatenatedIsForImages);
  const std::string leave = "; leave it out";
  for (const char* key : {"ratio", "length", "pool"})
    table.refuse(
        key, "has no effect: a concatenated cache has one entry for each key of the layer, with the width of the key" +
                 leave);
  for (const char* key : {"share_start", "variant", "gates", "attend", "inference", "gradient", "scope"})
    table.refuse(key,
                 "has no effect: a concatenated cache has neither gates nor λ. Its keys are part of the layer's "
                 "softmax, and evaluation uses the keys of the last training step" +
                     leave);
  table.refuse("positional_convolution", "has no effect: a concatenated cache has no positional convolution" + leave);
  return {};
}

}  // namespace

constinit const CacheKind<ConcatenatedCacheOptions> ConcatenatedCacheOptions::kKind{
    .name = "concatenated", .read = read_concatenated_cache, .exports = Export::traced};

ConcatenatedCache::ConcatenatedCache(int64_t dim, int64_t length) : Cloneable("ConcatenatedCache") {
  check_positive("concatenated_cache: dim", dim);
  TORCH_CHECK(length >= 1, "concatenated_cache: must have one entry for each key of the layer, and at least one, got ",
              length);
  tokens = register_buffer(kTokens, zeros({1, length, dim}));
  held_.set(tokens, false);
}

void ConcatenatedCache::reset() {
  Cache::reset();
  held_.set(tokens, false);
}

Memory ConcatenatedCache::step(const torch::Tensor& input, const torch::Tensor&, const AttentionArgs& args) {
  const torch::Tensor previous = tokens.detach().clone();   // the backward pass needs what was read
  if (is_training() && (input.size(0) > 0 || reducer())) {  // no samples have no mean
    const at::NoGradGuard no_grad;
    std::optional<torch::Tensor> padding;
    if (args.context.padding.defined()) padding = args.context.padding;
    const torch::Tensor x = ops::resize_tokens(input.to(tokens.scalar_type()), tokens.size(1), padding);
    tokens.copy_(mean_over_replicas(x.mean(0, /*keepdim=*/true), x.size(0)));
    held_.set(tokens, true);
  }
  return {previous, {}};
}

void ConcatenatedCache::fill() {
  const at::NoGradGuard no_grad;
  if (holds_step()) return;
  tokens.normal_();
  held_.set(tokens, true);
}

}  // namespace cachet::nn
