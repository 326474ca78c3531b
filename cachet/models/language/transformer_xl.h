#pragma once

#include "cachet/models/language/block_language_model.h"
#include "cachet/models/language/transformer_xl_options.h"
#include "cachet/nn/base/memoized.h"

namespace cachet::models {

/// A language model whose tokens attend to earlier tokens of the segment and to a memory. The memory contains the
/// inputs of each layer for the last memory_length tokens of earlier segments. Instead of a memory, layers may have a
/// cache that is mixed with attention within the segment (Cached Transformers, arXiv 2312.12742, Table 5). Memory
/// tokens, if there are any, count as tokens of the segment.
/// Parts: embedding, memory_tokens (1, count, dim), blocks, output. All layers share content_bias
/// and position_bias.
class TransformerXL : public nn::Cloneable<TransformerXL, BlockLanguageModel> {
 public:
  explicit TransformerXL(const TransformerXLOptions& options);

  SegmentOptions segments() const override { return options_.segments; }
  /// If a length is below 0, or if a Transformer-XL memory is requested in addition to a cache, throws c10::Error.
  LanguageSession make_session(int64_t batch_rows, const SegmentOptions& segments) const override;
  bool remembers_segments() const override {
    return BlockLanguageModel::remembers_segments() || options_.memory_tokens.count > 0;
  }
  torch::Tensor encode(const torch::Tensor& ids, LanguageSession& session) override;

 private:
  // The encodings of distances (before dropout) and the masked keys for `length` tokens after `past` earlier tokens.
  struct Positions {
    int64_t length, past, clamp_length, window;
    nn::RelativeLayout layout;
  };
  nn::RelativeLayout positions(int64_t length, const LanguageSession& session, const torch::Tensor& like);
  torch::Tensor with_memory_tokens(const torch::Tensor& tokens, const LanguageSession& session) const;

  TransformerXLOptions options_;
  nn::RegisteredTensor memory_tokens_;
  nn::Memoized<Positions> positions_;
};

}  // namespace cachet::models
