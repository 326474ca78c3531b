#pragma once

#include <ATen/ATen.h>

#include <memory>
#include <string>

#include "cachet/nn/attention/cached_attention.h"

namespace cachet::test {

/// A layer of self-attention with a cache, in float64.
inline std::shared_ptr<nn::Attention> make_cached(const nn::CacheOptions& cache, int64_t dim = 8, int64_t heads = 2,
                                                  int64_t tokens = 4, const nn::TokenLayout& layout = {}) {
  auto layer = nn::make_self_attention({dim, heads, tokens, layout, cache});
  layer->to(at::kDouble);
  return layer;
}

inline at::Tensor run(nn::Attention& layer, const at::Tensor& x, const nn::AttentionArgs& args = {}) {
  return layer.forward(x, x, args);
}

/// The cache that the model stores: (1, Tm, Dm).
inline at::Tensor stored_tokens(const nn::Attention& layer) { return layer.named_buffers()["cache.tokens"].clone(); }

/// What memory attention attends to in a forward pass over x.
inline at::Tensor memory_of(nn::Attention& layer, const at::Tensor& x, const nn::AttentionArgs& args = {}) {
  at::Tensor memory;
  const nn::Observation observation(layer, [&](const std::string&, nn::Signal signal, const at::Tensor& value) {
    if (signal == nn::Signal::memory_tokens) memory = value;
  });
  run(layer, x, args);
  return memory;
}

}  // namespace cachet::test
