#pragma once

#include "cachet/config/view.h"
#include "cachet/models/language/block_language_model.h"
#include "cachet/nn/base/memoized.h"
#include "cachet/nn/base/not_replayable.h"
#include "cachet/nn/norm/norm.h"

namespace cachet::models {

/// The options of a decoder with absolute positions (Vaswani et al., arXiv 1706.03762) and any causal attention.
struct CausalTransformerOptions {
  nn::AdaptiveVocabulary vocabulary{};  // vocabulary.dim is the number of channels of the model
  nn::AdaptiveTies ties{};
  int64_t target_length = 150;
  bool whole_past = false;  // value of SegmentOptions::whole_past
  int64_t depth = 6, num_heads = 8, mlp_dim = 1024;
  nn::NormPlace norm_place = nn::NormPlace::before;
  double dropout = 0.1;  // rate on embeddings, after attention, in the feed-forward halves and on the output
  nn::PlugIns plug_ins{};
};

/// Reads a `[model]` table; `defaults` has the values of a named model. Reports a problem, which names the key, if
/// values of the recipe do not fit together.
CausalTransformerOptions read_causal_transformer_options(const config::View& table, CausalTransformerOptions defaults);

/// A language model whose tokens attend to earlier tokens of the segment. Sinusoids encode positions. A cache in each
/// layer can add information from earlier segments (Cached Transformers, arXiv 2312.12742). If whole_past is set, the
/// model reads the whole earlier text: the running sums of its linear attention (elu, trained kernels) and the
/// positions of its tokens continue from segment to segment. Parts: embedding, blocks, norm (only in models with
/// pre-norm blocks), output.
class CausalTransformer : public nn::Cloneable<CausalTransformer, BlockLanguageModel>, public nn::NotReplayable {
 public:
  /// Throws c10::Error for invalid options: whole_past needs linear attention and no cache.
  explicit CausalTransformer(const CausalTransformerOptions& options);

  std::optional<std::string> why_not_replayed() const override;
  SegmentOptions segments() const override { return {.whole_past = options_.whole_past}; }
  /// Throws c10::Error if memory_length, clamp_length or same_length is set, or whole_past without linear attention.
  LanguageSession make_session(int64_t batch_rows, const SegmentOptions& segments) const override;
  torch::Tensor encode(const torch::Tensor& ids, LanguageSession& session) override;

 private:
  struct Positions {
    int64_t first;
    torch::Tensor table;  // (1, L, dim)
  };
  torch::Tensor positions(int64_t first, const torch::Tensor& like);

  CausalTransformerOptions options_;
  nn::Submodule<nn::Norm> norm_;
  nn::Memoized<Positions> positions_;
};

}  // namespace cachet::models
