#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cachet/models/language/language_model.h"
#include "cachet/nn/layers/adaptive_embedding.h"
#include "cachet/nn/layers/adaptive_softmax.h"
#include "cachet/nn/transformer_block.h"

namespace cachet::models {

/// The options of a language model of transformer blocks, except the options of attention and of positions.
struct LanguageBlockOptions {
  std::string model;  // prefix of the model's error messages: "transformer_xl"
  nn::AdaptiveVocabulary vocabulary{};
  nn::AdaptiveTies ties{};
  int64_t target_length = 0, depth = 0, mlp_dim = 0;
  nn::NormPlace norm_place = nn::NormPlace::before;
  nn::PlugIns plug_ins{};  // only norm and outliers are used, because each model makes its own attention
  double dropout = 0.0;
  nn::Activation activation = nn::Activation::gelu;
};

/// Transformer blocks between an adaptive embedding and an adaptive softmax. The class BlockLanguageModel makes the
/// parts of the model, checks the options and computes the scores of tokens. A derived class adds its kind of attention
/// and the encoding of a segment. Parts, in this order: embedding, blocks, output. A derived class registers its own
/// parts after the embedding and before the output.
class BlockLanguageModel : public LanguageModel {
 public:
  LanguageShape language_shape() const override { return {made_of_.vocabulary.tokens, made_of_.target_length}; }
  torch::Tensor negative_log_likelihood(const torch::Tensor& ids, const torch::Tensor& targets,
                                        LanguageSession& session) override;
  torch::Tensor next_token(const torch::Tensor& ids, LanguageSession& session) override;
  void read(const torch::Tensor& ids, LanguageSession& session) override { encode(ids, session); }
  /// Whether the model was made with caches. With a cache, even a frozen cache, outputs depend on where segments begin.
  bool remembers_segments() const override { return was_made_with_caches_; }

  /// Returns the output of the last layer for a segment: ids (rows, L) -> (rows, L, dim), one batch row for each text.
  virtual torch::Tensor encode(const torch::Tensor& ids, LanguageSession& session) = 0;

 protected:
  /// Registers the embedding. If the options are invalid, throws c10::Error, which names the option.
  explicit BlockLanguageModel(const LanguageBlockOptions& options);
  /// Registers the transformer blocks, each with its own attention layer.
  void make_blocks(const std::function<std::shared_ptr<nn::Attention>()>& make_attention);
  /// Registers the output. Initializes the weights of all linear layers at random.
  void make_output();

  torch::Tensor drop(const torch::Tensor& x) const;
  /// Returns the embeddings of ids. Throws c10::Error unless ids have as many rows as the session.
  torch::Tensor embed(const torch::Tensor& ids, const LanguageSession& session) const;
  /// Applies all blocks in turn, each with its part of the session's state. `args` contains no state.
  torch::Tensor through_blocks(torch::Tensor x, nn::AttentionArgs args, const LanguageSession& session) const;
  /// Returns a session with a state for each block.
  LanguageSession block_session(int64_t batch_rows, const SegmentOptions& segments, nn::SessionUse use) const;

  static constexpr double kNormEps = 1e-5;  // epsilon of the published code's norms
  static constexpr double kSpread = 0.02;   // standard deviation of the initial weights

  LanguageBlockOptions made_of_;
  nn::Submodule<nn::AdaptiveEmbedding> embedding_;
  std::vector<nn::Submodule<nn::TransformerBlock>> blocks_;
  bool was_made_with_caches_ = false;
  nn::Submodule<nn::AdaptiveSoftmax> output_;
};

}  // namespace cachet::models
