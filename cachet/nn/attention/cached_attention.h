#pragma once

#include <functional>
#include <memory>

#include "cachet/nn/attention/attention.h"
#include "cachet/nn/attention/attention_options.h"
#include "cachet/nn/cache/cache_options.h"

namespace cachet::nn {

/// The two attentions of a cached layer: self-attention and memory attention.
enum class Branch { self, memory };

/// A function that makes the attention of a branch. `dim`: the channels of the tokens.
using AttentionFactory = std::function<std::shared_ptr<Attention>(int64_t dim, Branch branch)>;

struct CachedAttentionOptions {
  int64_t dim = 0, num_heads = 0;
  int64_t tokens = 0;       // number of tokens at the model's own input size
  TokenLayout layout = {};  // layout of these tokens
  CacheOptions cache = {};
};

/// An attention that mixes two attentions head by head: the base class of CachedAttention and FrozenCachedAttention.
class MixedAttention : public Attention {
 public:
  RegisteredTensor mixing_logit;  // λ (H), "share" in checkpoints; σ(λ) is the gate of the mixture, not of the GRC

 protected:
  using Attention::Attention;
  /// The parts of a cached attention that CachedAttention and FrozenCachedAttention register under the same names.
  struct Mixing {
    std::shared_ptr<Attention> self_attention;
    torch::Tensor mixing_logit;
    std::shared_ptr<ModuleGroup> position;  // null without the positional convolution
  };
  // A derived class calls register_self_attention(), registers its other parts, and then calls register_position(). The
  // optimizer has the parameters in the order of registration.
  void register_self_attention(const Mixing& mixing);
  void register_position(const Mixing& mixing);
  Mixing mixing() const { return {self_attention_, mixing_logit, position_}; }
  bool has_position() const { return position_ != nullptr; }

  torch::Tensor self_output(const torch::Tensor& query, const AttentionArgs& args) const;
  /// Returns O_h = σ(λ_h)·o_mem + (1 − σ(λ_h))·o_self, plus the positional convolution of the query.
  torch::Tensor mix(const torch::Tensor& query, const torch::Tensor& self_output, const torch::Tensor& memory_output,
                    const AttentionArgs& args) const;
  torch::Tensor add_position(const torch::Tensor& query, const torch::Tensor& mixed, const AttentionArgs& args) const;
  static AttentionState* part_of(const AttentionArgs& args, const char* name);

  Submodule<Attention> self_attention_;

 private:
  Submodule<ModuleGroup> position_;
  RegisteredTensor position_weight_, position_bias_;
};

class FrozenCachedAttention;

/// Attention with a memory (Cached Transformers, arXiv 2312.12742, Eq. 2–3), for each head h:
///   O_h = σ(λ_h)·o_mem + (1 − σ(λ_h))·o_self.
/// The steps are: self-attention; a step of the cache; attention to the cache, with the first Dm channels of the input
/// as query; and a head-by-head mixture of the two projected attentions.
/// Parts: self_attention, memory_attention, cache, share (λ, one for each head), position (optional 3×3 convolution).
class CachedAttention : public Cloneable<CachedAttention, MixedAttention> {
 public:
  using Frozen = FrozenCachedAttention;

  /// Makes self-attention over dim channels and memory attention over Dm = cache_dim(ratio, dim) channels, both with
  /// num_heads heads. Throws c10::Error if the cache is NoCacheOptions, if there are no heads, channels or tokens, if
  /// num_heads does not divide Dm, or if there is a positional convolution and Dm does not divide dim.
  CachedAttention(const CachedAttentionOptions& options, const AttentionFactory& make);

  torch::Tensor forward(const torch::Tensor& query, const torch::Tensor& context, const AttentionArgs& args) override;
  std::shared_ptr<AttentionState> make_state(int64_t batch, SessionUse use) const override;
  void fold_affine_before(const Affine& before) override;
  bool has_cache() const override { return true; }
  /// Throws c10::Error if evaluation changes the cache.
  std::shared_ptr<Attention> freeze_cache() const override;

 protected:
  struct FrozenParts {
    Mixing mixing;
    std::shared_ptr<Attention> memory_attention;  // memory attention with constant keys and values
    int64_t dim, width;                           // D and Dm
  };
  FrozenParts frozen_parts() const;

 private:
  friend class FrozenCachedAttention;

  int64_t dim_;
  Submodule<Attention> memory_attention_;
  Submodule<Cache> cache_;
};

/// The frozen form of CachedAttention, for evaluation with a cache that does not change. The frozen form has no cache
/// and no cache gates: the memory's keys and values are constants. Parts: self_attention, memory_attention
/// (FixedContextAttention), share (until fold_share() folds it into the projections), position.
class FrozenCachedAttention : public Cloneable<FrozenCachedAttention, MixedAttention> {
 public:
  explicit FrozenCachedAttention(const CachedAttention::FrozenParts& parts);

  torch::Tensor forward(const torch::Tensor& query, const torch::Tensor& context, const AttentionArgs& args) override;
  std::shared_ptr<AttentionState> make_state(int64_t batch, SessionUse use) const override;
  /// Throws c10::Error if the layer has a positional convolution, because the convolution reads zeros beyond the border
  /// of the grid.
  void fold_affine_before(const Affine& before) override;
  /// Folds the mixing gate σ(λ) into the last projections of both attentions, so that their outputs need only be added.
  /// If the last operation of an attention is not a projection, throws c10::Error and changes nothing.
  void fold_share();
  [[deprecated("fold_share")]] void absorb_share() { fold_share(); }
  bool has_mixing_logit() const { return mixing_logit.defined(); }

 private:
  torch::Tensor sum(const torch::Tensor& own, const torch::Tensor& memory_output) const;  // adds in place, to `own`

  Submodule<Attention> memory_attention_;
  int64_t num_heads_, dim_, width_;
};

/// Returns the attention of a transformer block. If options.cache is NoCacheOptions, returns the self-attention of
/// `make`. If options.cache is a concatenated cache, adds the cache to the self-attention of `make`. If options.cache
/// is any other cache, returns a CachedAttention.
std::shared_ptr<Attention> make_self_attention(const CachedAttentionOptions& options, const AttentionFactory& make);

/// Returns the attention of a transformer block: one MultiHeadAttention, or two if the cache has memory attention.
std::shared_ptr<Attention> make_self_attention(const CachedAttentionOptions& options,
                                               const AttentionOptions& attention = {});

}  // namespace cachet::nn
