#pragma once

#include "cachet/config/view.h"
#include "cachet/models/language/block_language_model.h"
#include "cachet/nn/base/memoized.h"

namespace cachet::models {

/// Tokens of the model's own that stand before each segment (Memory Transformer, Burtsev et al., arXiv 2006.11527), and
/// that a segment hands on to the next one (Recurrent Memory Transformer, Bulatov et al., arXiv 2207.06881).
struct MemoryTokenOptions {
  int64_t count = 0;        // 0: none
  bool recurrent = false;   // they stand behind each segment, too: what the last layer makes of those comes before the
                            // next one
  bool reads_past = false;  // whether they see the memory of earlier segments
};

/// Transformer-XL (Dai et al., arXiv 1901.02860) and what became of its memory.
struct TransformerXLOptions {
  nn::AdaptiveVocabulary vocabulary{};  // its dim is the model's
  nn::AdaptiveTies ties{};
  int64_t target_length = 150;
  SegmentOptions segments{.memory_length = 150};
  MemoryTokenOptions memory_tokens{};
  int64_t depth = 16, num_heads = 10, mlp_dim = 2100;
  nn::NormPlace norm_place = nn::NormPlace::after;
  double dropout = 0.1;  // of embeddings, distances, attention's results, in the feed-forward halves and of the output
  nn::PlugIns plug_ins{.attention = {.qkv_bias = false, .projection_bias = false}};
};

/// Reads a `[model]` table over the defaults of a named model. Combinations that cannot be built are problems that name
/// the key.
TransformerXLOptions read_transformer_xl_options(const config::View& table, TransformerXLOptions defaults);

/// A language model whose tokens attend to those before them in the segment, and to a memory: the inputs that each
/// layer had for the last memory_length tokens of earlier segments, or, with a cache in its place, that layer's cache
/// (Cached Transformers, arXiv 2312.12742, Table 5), which attention within the segment is mixed with. Memory tokens,
/// where there are any, count as tokens of the segment.
/// Parts: embedding, memory_tokens (1, count, dim), blocks, output; content_bias and position_bias of all layers are
/// one.
class TransformerXL : public nn::Cloneable<TransformerXL, BlockLanguageModel> {
 public:
  explicit TransformerXL(const TransformerXLOptions& options);

  SegmentOptions segments() const override { return options_.segments; }
  /// Throws c10::Error for lengths below 0, and for a memory beside a cache.
  LanguageSession make_session(int64_t batch_rows, const SegmentOptions& segments) const override;
  bool remembers_segments() const override {
    return BlockLanguageModel::remembers_segments() || options_.memory_tokens.count > 0;
  }
  torch::Tensor encode(const torch::Tensor& ids, LanguageSession& stream) override;

 private:
  // Of a segment of `length` tokens behind `past` others: distances before dropout, and what is hidden.
  struct Positions {
    int64_t length, past, clamp_length, window;
    nn::RelativeLayout layout;
  };
  nn::RelativeLayout places(int64_t length, const LanguageSession& stream, const torch::Tensor& like);
  torch::Tensor with_memory_tokens(const torch::Tensor& tokens, const LanguageSession& stream) const;

  TransformerXLOptions options_;
  nn::RegisteredTensor memory_tokens_;
  nn::Memoized<Positions> places_;
};

}  // namespace cachet::models
