#pragma once

#include <vector>

#include "cachet/models/language/fixed_decoder.h"
#include "cachet/models/language/translation_transformer_options.h"
#include "cachet/nn/attention/multi_head_attention.h"
#include "cachet/nn/base/memoized.h"
#include "cachet/nn/layers/linear.h"
#include "cachet/nn/norm/folding.h"

namespace cachet::models {

/// An encoder of the source and a decoder that writes the target. Embeddings are scaled by √embed_dim. Positional
/// encodings are sinusoids. As in fairseq, positions count only the tokens that are not padding, from the padding
/// id + 1 on. Parts: source_embed, target_embed, encoder_blocks, encoder_norm, decoder_blocks, decoder_norm, output. A
/// shared tensor is registered under each of its names. Post-norm models have no encoder_norm and decoder_norm.
///
/// Initial weights are fairseq's. Embeddings are normal with variance 1/embed_dim; the padding's embedding is 0. Linear
/// layers are Glorot-uniform; layers of queries, keys and values have half that variance. Biases are 0.
class TranslationTransformer : public nn::Cloneable<TranslationTransformer, TranslationModel>,
                               public nn::Foldable,
                               public FixedDecoder {
 public:
  /// If the options are invalid, throws c10::Error, which names the option.
  explicit TranslationTransformer(const TranslationTransformerOptions& options);

  TranslationShape translation_shape() const override { return options_.text; }
  void set_tokens(const TranslationTokens& tokens) override;
  EncodedSentences encode(const Sequences& source) override;
  TranslationLosses losses(const SentencePairs& pairs, const LabelSmoothing& smoothing) override;
  TranslationSession make_session(const EncodedSentences& source) override;
  torch::Tensor next_token(const torch::Tensor& ids, TranslationSession& session) override;
  void reorder(TranslationSession& session, const torch::Tensor& rows, bool same_sentences) const override;
  torch::Tensor cross_attention(const SentencePairs& pairs) override;

  std::optional<std::string> why_no_fixed_session() const override;
  FixedSession make_fixed_session(const EncodedSentences& source, int64_t beam, int64_t capacity) override;
  torch::Tensor next_fixed(const torch::Tensor& ids, FixedSession& session) override;
  void reorder_fixed(FixedSession& session, const torch::Tensor& rows) const override;
  void extend_fixed(FixedSession& session, int64_t capacity) const override;
  std::vector<at::Tensor*> fixed_tensors(FixedSession& session) const override;

  /// Returns the decoder's output for a target: (B, T, embed_dim), before the output layer.
  torch::Tensor decode(const Sequences& target, const EncodedSentences& source);
  /// Returns the scores of all tokens: (…, embed_dim) -> (…, target_vocabulary).
  torch::Tensor scores(const torch::Tensor& hidden) const { return output_->forward(hidden); }

  /// Returns how encoder_norm can be folded into the decoder's key and value projections, and how decoder_norm can be
  /// folded into the output layer. If the output layer shares weights, decoder_norm is not folded.
  std::vector<nn::NormFold> norm_folds() override;

 private:
  torch::Tensor positions(const torch::Tensor& like);
  /// Returns the embeddings (rows, 1, embed_dim) of the tokens ids (rows) of the target, without positions.
  torch::Tensor embed_tokens(const torch::Tensor& ids) const;
  /// Returns log p of the token after the embedded tokens x (rows, 1, embed_dim).
  torch::Tensor next_log_probabilities(torch::Tensor x, nn::AttentionState& state, const EncodedSentences& source);
  torch::Tensor embed(const torch::Tensor& table, const Sequences& sentences);
  void make_encoder();
  void make_decoder();
  void initialize();

  TranslationTransformerOptions options_;
  nn::RegisteredTensor source_table_, target_table_;
  std::vector<nn::Submodule<nn::TransformerBlock>> encoder_blocks_, decoder_blocks_;
  std::vector<nn::Submodule<nn::MultiHeadAttention>> cross_attentions_;  // cross attentions of the decoder's blocks
  nn::Submodule<nn::Norm> encoder_norm_, decoder_norm_;
  nn::Submodule<nn::Linear> output_;
  nn::Memoized<torch::Tensor> positions_;
};

}  // namespace cachet::models
