#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "benchmarks/backward_step.h"
#include "cachet/ops/linear/linear.h"

namespace cachet::benchmarks {

/// The cache that memory attention reads: as stored (no gates), the mean of the samples' updated ones, or each its own.
enum class CacheRead { stored, mean, per_sample };

/// A map of tokens, and the side of the squares that a convolution makes one token of.
struct SpatialReduction {
  int64_t height = 0, width = 0, side = 1;
};

struct CachedLayerSize {
  int64_t batch = 0, tokens = 0, cache_tokens = 0;
  int64_t width = 0, heads = 1;                 // of the memory
  std::optional<SpatialReduction> reduction{};  // of the cache, before memory attention reads it
};

/// The products and the attention that a cache adds to a layer, and nothing else.
class AddedProducts {
 public:
  AddedProducts(const CachedLayerSize& size, at::ScalarType type, bool training, CacheRead read)
      : size_(size), read_(read) {
    const int64_t w = size.width;
    const auto make = [&](std::vector<int64_t> sizes) {
      operands_.push_back((at::randn(sizes) * 0.05).to(type).requires_grad_(training));
      return operands_.back();
    };
    x_ = make({size.batch, size.tokens, w});
    read_of_x_ = size.cache_tokens == size.tokens ? x_ : make({size.batch, size.cache_tokens, w});
    all_ = make({3 * w, w}), candidate_ = make({w, w});
    query_ = make({w, w}), key_value_ = make({2 * w, w}), output_ = make({w, w});
    gates_ = make({2 * w, w});
    mean_ = make({1, size.cache_tokens, w});
    if (size.reduction) reduce_ = make({w, w, size.reduction->side, size.reduction->side});
    cache_ = (at::randn({1, size.cache_tokens, w}) * 0.05).to(type);
  }

  /// Those of the cache's update alone.
  Tensors update() const {
    return {ops::linear(read_of_x_, all_), ops::linear(cache_, gates_), ops::linear(read_of_x_, candidate_)};
  }
  Tensors forward() const {
    const int64_t w = size_.width;
    const auto heads = [&](const at::Tensor& x) {
      return x.view({x.size(0), x.size(1), size_.heads, -1}).transpose(1, 2);
    };
    Tensors outputs;
    if (read_ != CacheRead::stored) outputs = update();
    const at::Tensor keys_values = ops::linear(reduced(read_ == CacheRead::per_sample ? read_of_x_ : mean_), key_value_)
                                       .expand({size_.batch, -1, -1});
    const at::Tensor attended = at::scaled_dot_product_attention(heads(ops::linear(x_, query_)),
                                                                 heads(keys_values.narrow(2, 0, w).contiguous()),
                                                                 heads(keys_values.narrow(2, w, w).contiguous()));
    outputs.push_back(ops::linear(attended.transpose(1, 2).reshape({size_.batch, size_.tokens, w}), output_));
    return outputs;
  }
  const Tensors& operands() const { return operands_; }

 private:
  at::Tensor reduced(const at::Tensor& tokens) const {
    if (!size_.reduction) return tokens;
    const auto& map = *size_.reduction;
    const at::Tensor image = tokens.transpose(1, 2).reshape({tokens.size(0), size_.width, map.height, map.width});
    return at::conv2d(image, reduce_, {}, map.side).flatten(2).transpose(1, 2).contiguous();
  }

  CachedLayerSize size_;
  CacheRead read_;
  at::Tensor x_, read_of_x_, cache_, mean_, all_, gates_, candidate_, query_, key_value_, output_, reduce_;
  Tensors operands_;
};

}  // namespace cachet::benchmarks
