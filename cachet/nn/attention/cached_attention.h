#pragma once

#include <functional>
#include <memory>

#include "cachet/nn/attention/attention.h"
#include "cachet/nn/attention/attention_options.h"
#include "cachet/nn/cache/cache_options.h"

namespace cachet::nn {

/// The two attentions of a cached layer.
enum class Branch { self, memory };

/// Makes an attention over tokens of `dim` channels.
using AttentionFactory = std::function<std::shared_ptr<Attention>(int64_t dim, Branch branch)>;

struct CachedAttentionOptions {
  int64_t dim = 0, num_heads = 0;
  int64_t tokens = 0;       // at the model's own input size
  TokenLayout layout = {};  // of these
  CacheOptions cache = {};
};

/// Attention beside a memory (Cached Transformers, arXiv 2312.12742, Eq. 3–4):
///   O_h = σ(λ_h)·o_mem + (1 − σ(λ_h))·o_self
/// Self-attention runs first, then the cache steps, then the first Dm channels of the input attend to the cache; the
/// branches are mixed head by head behind their projections.
/// Parts: self_attention, memory_attention, cache, share (λ, one a head), position (the optional 3×3 convolution).
class CachedAttention : public Attention {
 public:
  /// self-attention is made over dim channels, memory attention over Dm = cache_dim(options.cache, dim); both have
  /// num_heads heads. Throws c10::Error for NoCacheOptions, unless num_heads divides Dm, and unless Dm divides dim when
  /// there is a positional convolution.
  CachedAttention(const CachedAttentionOptions& options, const AttentionFactory& make);

  torch::Tensor forward(const torch::Tensor& query, const torch::Tensor& context,
                        const AttentionLayout& layout) override;
  std::shared_ptr<AttentionState> make_state(int64_t batch, StreamUse use) const override;

  torch::Tensor share;  // λ (H)

 private:
  torch::Tensor add_position(const torch::Tensor& mixed, const torch::Tensor& x, const TokenLayout& layout) const;

  int64_t num_heads_;
  std::shared_ptr<Attention> self_attention_, memory_attention_;
  std::shared_ptr<Cache> cache_;
  std::shared_ptr<torch::nn::Module> position_;
  torch::Tensor position_weight_, position_bias_;
};

/// The attention of a transformer block: what `make` makes for self-attention, cached where options.cache asks for it.
std::shared_ptr<Attention> make_self_attention(const CachedAttentionOptions& options, const AttentionFactory& make);

/// The same with multi-head attentions.
std::shared_ptr<Attention> make_self_attention(const CachedAttentionOptions& options,
                                               const AttentionOptions& attention = {});

}  // namespace cachet::nn
