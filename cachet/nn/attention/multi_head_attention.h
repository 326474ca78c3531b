#pragma once

#include <optional>

#include "cachet/nn/attention/attention.h"
#include "cachet/nn/attention/attention_options.h"
#include "cachet/nn/base/memoized.h"
#include "cachet/nn/cache/concatenated_cache.h"
#include "cachet/nn/layers/linear.h"

namespace cachet::nn {

/// Projections of a layer. fused: one product for query and context; separate: one for the query, one for the context.
enum class Projection { fused, separate };

struct MultiHeadOptions {
  int64_t dim = 0, num_heads = 0;  // dim: channels of query and context
  AttentionOptions attention = {};
  Projection projection = Projection::fused;
  std::optional<Grid> relative_window = {};  // window with a learned bias for each offset of two tokens; unset: no bias
  int64_t context_dim = 0;                   // for Projection::separate: channels of the context; 0: the same as dim
};

/// Multi-head attention: projections to heads, an attention function, a projection from the heads to dim channels.
/// Parameters: qkv (fused) or q, kv (separate), or qk_v if queries and keys are one projection;
/// proj; and relative_position_bias_table if there is a window.
/// With a concatenated cache (part `cache`), queries also attend to the tokens of the previous training step. The layer
/// computes keys and values of the cached tokens with the same projections as for the current tokens. The cached tokens
/// are additional columns of the softmax, to which no relative bias and no mask apply. Until a step is stored, the
/// layer computes the same result as without a cache. A frozen cache consists of the buffers memory_keys and
/// memory_values. With a state for decoding, the keys and values of earlier calls stay visible. With a state for a
/// fixed context, all calls use the keys and values of the first call.
class MultiHeadAttention : public Cloneable<MultiHeadAttention, Attention> {
 public:
  /// Throws c10::Error if attention.head_dim is 0 and num_heads does not divide dim. Also throws c10::Error for
  /// zero channels, zero heads or a dropout outside [0, 1).
  explicit MultiHeadAttention(const MultiHeadOptions& options);

  torch::Tensor forward(const torch::Tensor& query, const torch::Tensor& context, const AttentionArgs& args) override;
  std::shared_ptr<AttentionState> make_state(int64_t batch, SessionUse use) const override;
  /// Throws c10::Error if the attention function is not softmax.
  void concatenate_cache(int64_t tokens, const TokenLayout& layout) override;
  bool has_cache() const override { return cache_ != nullptr; }
  std::shared_ptr<Attention> freeze_cache() const override;
  void fold_affine_before(const Affine& before) override;
  void fold_affine_into_query(const Affine& before) override;
  void fold_affine_after(const Affine& after) override { proj_->fold_affine_after(after); }
  std::shared_ptr<Attention> with_fixed_context(const torch::Tensor& context, const TokenLayout& layout) const override;
  /// Folds `before` only into the projections of the context. Throws c10::Error if queries and keys are one projection.
  void fold_affine_into_context(const Affine& before);

  /// Returns the weight of each context token for each projected query: heads (B, H, Lq, d) as in
  /// Signal::attention_operands, context (B, Lk, context_dim) -> (B, H, Lq, Lk).
  torch::Tensor weights_of(const torch::Tensor& heads, const torch::Tensor& context, const AttentionArgs& args) const;

 protected:
  /// Replaces the cache by constant keys and values. Call hold_memory() only on a shallow copy of the layer. The
  /// submodules of the copy are those of the original layer.
  void hold_memory();

 private:
  struct Heads {
    torch::Tensor q, k, v;  // (B, H, L, d)
  };
  torch::Tensor project_query(const torch::Tensor& query) const;
  void project_context(const torch::Tensor& context, Heads& heads) const;
  Heads project(const torch::Tensor& query, const torch::Tensor& context) const;
  AttentionArgs add_relative_bias(const AttentionArgs& args) const;
  AttentionArgs remember(Heads& heads, const AttentionArgs& args) const;
  AttentionArgs fixed_context(Heads& heads, const torch::Tensor& context, const AttentionArgs& args) const;
  void project_memory(const torch::Tensor& tokens, Heads& heads) const;
  std::optional<Heads> read_memory(const torch::Tensor& context, const AttentionArgs& args);
  AttentionArgs add_memory(Heads& heads, const torch::Tensor& context, const AttentionArgs& args);
  void refuse_to_absorb() const;

  int64_t dim_, context_dim_, num_heads_, head_dim_;
  double projection_dropout_;
  Submodule<Linear> qkv_, qk_v_, q_, kv_, proj_;
  Submodule<AttentionFunction> function_;
  Submodule<ConcatenatedCache> cache_;
  RegisteredTensor memory_keys_, memory_values_;  // keys and values of a frozen cache: (1, H, L, d)
  HeldValues memory_held_;                        // whether memory_keys_ contains a stored step
  RegisteredTensor relative_position_bias_table_;
  std::optional<Grid> relative_window_;
  mutable Memoized<torch::Tensor> relative_index_;  // relative_index(), on the table's device
};

}  // namespace cachet::nn
