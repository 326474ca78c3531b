#pragma once

#include "cachet/nn/attention/attention.h"
#include "cachet/nn/attention/attention_options.h"
#include "cachet/nn/cache/cache_options.h"

namespace cachet::nn {

/// Attention beside a memory (Cached Transformers, arXiv 2312.12742, Eq. 3–4):
///   O_h = σ(λ_h)·o_mem + (1 − σ(λ_h))·o_self
/// Self-attention runs first, then the cache steps, then the first Dm channels of the input attend to the cache; the
/// branches are mixed head by head behind their projections.
/// Parts: self_attention, memory_attention, cache, share (λ, one a head), position (the optional 3×3 convolution).
class CachedAttention : public Attention {
 public:
  /// self attends over dim channels, memory over Dm = cache_dim(options, dim); both have num_heads heads.
  /// Throws c10::Error unless num_heads divides Dm, and Dm divides dim when there is a positional convolution.
  CachedAttention(int64_t dim, int64_t num_heads, const CachedLayerOptions& options, std::shared_ptr<Attention> self,
                  std::shared_ptr<Attention> memory, std::shared_ptr<Cache> cache);

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

/// Multi-head self-attention over `tokens` tokens of dim channels, cached where `cache` asks for it: the attention of
/// a transformer block.
std::shared_ptr<Attention> make_self_attention(const AttentionOptions& attention, const CacheOptions& cache,
                                               int64_t dim, int64_t num_heads, int64_t tokens,
                                               const TokenLayout& layout);

}  // namespace cachet::nn
