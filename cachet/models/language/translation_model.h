#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cachet/models/language/sequence_classifier.h"
#include "cachet/models/model.h"
#include "cachet/models/model_plan.h"
#include "cachet/nn/attention/attention_state.h"

namespace cachet::models {

/// The ids of special tokens. `padding` is for both languages; the other ids are for the target language.
struct TranslationTokens {
  int64_t padding = 0;
  int64_t begin = 2;  // first input of a translation; fairseq uses the end token
  int64_t end = 3;    // end of a sentence
  /// Number of ids of the target language. The ids from `known` upward only pad the model's vocabulary; translations
  /// never contain these ids. If `known` is 0, all ids of the model's vocabulary belong to the target language.
  int64_t known = 0;
  bool operator==(const TranslationTokens&) const = default;
};

/// The vocabularies, the special tokens and the maximum lengths of the sentences that a translation model reads and
/// writes.
struct TranslationShape {
  int64_t source_vocabulary = 0, target_vocabulary = 0;  // numbers of ids
  int64_t source_length = 512, target_length = 512;      // maximum number of tokens of a sentence, with its end
  TranslationTokens tokens{};
};

ModelInput input_of(const TranslationShape& text);

/// A batch of pairs of sentences.
struct SentencePairs {
  Sequences source;       // (B, S), each sentence with its end; padding on either side
  Sequences target;       // (B, T) input of the decoder: the begin token, then all tokens but the end;
                          // padding comes after these tokens
  torch::Tensor targets;  // (B, T) int64: the tokens to predict, the end last; −1 = no token
};

/// The tokens that receive ε, the probability that label smoothing takes from the right token.
enum class SmoothingShare {
  others,  // the V − 1 wrong tokens: fairseq since 1.0.0a0
  all,     // all V tokens, the right one included: fairseq to 0.10.2, and PyTorch
};

struct LabelSmoothing {
  double amount = 0.0;  // ε in [0, 1)
  SmoothingShare share = SmoothingShare::others;
};

/// Converts `smoothing` to SmoothingShare::others: returns the ε that gives the same loss, for `vocabulary` tokens.
double smoothing_among_others(const LabelSmoothing& smoothing, int64_t vocabulary);

/// Losses (B, T), in nats and in float32 or wider; 0 at positions without a target.
struct TranslationLosses {
  torch::Tensor loss;                     // loss of smoothed targets, for training
  torch::Tensor negative_log_likelihood;  // for reports, without a gradient
};

/// The encoder's output for a batch of sentences.
struct EncodedSentences {
  torch::Tensor tokens;   // (B, S, D), zero at the padding
  torch::Tensor padding;  // (B, S) bool, true = padding; undefined = none
};

/// The decoder's state for translations that are written token by token. Each translation is one batch row. All rows
/// have the same number of tokens.
struct TranslationSession {
  std::shared_ptr<nn::AttentionState> state;
  EncodedSentences source;  // encoder output until the first next_token(), which projects and removes it
  int64_t written = 0;      // number of tokens, the begin token included

  int64_t batch_rows() const { return state->batch_rows(); }
  [[deprecated("batch_rows")]] int64_t lanes() const { return batch_rows(); }
};

/// A translation model. After each token of a translation, the model gives a distribution of the next token over the
/// target vocabulary.
class TranslationModel : public virtual Model {
 public:
  virtual TranslationShape translation_shape() const = 0;
  /// Sets the ids of the special tokens in the loaded vocabularies. The padding id must not change, because positions
  /// are counted from it. Throws c10::Error for ids outside the target vocabulary.
  virtual void set_tokens(const TranslationTokens& tokens) = 0;

  /// Returns the output of the encoder. Throws c10::Error if a sentence is too long for the model.
  virtual EncodedSentences encode(const Sequences& source) = 0;
  /// Returns the losses of all target tokens of the sentence pairs. Throws c10::Error if a sentence is too long for the
  /// model.
  virtual TranslationLosses losses(const SentencePairs& pairs, const LabelSmoothing& smoothing) = 0;

  /// Returns a session before the first token, with one batch row for each sentence. Throws c10::Error in
  /// training mode.
  virtual TranslationSession make_session(const EncodedSentences& source) = 0;
  [[deprecated("make_session")]] TranslationSession make_stream(const EncodedSentences& source) {
    return make_session(source);
  }
  /// Reads one token of each batch row, ids (rows) int64 (at first the begin token). Returns log p of the following
  /// token, (rows, target vocabulary), in float32 or wider. The call advances the session to the position after the
  /// tokens `ids`.
  virtual torch::Tensor next_token(const torch::Tensor& ids, TranslationSession& session) = 0;
  /// Replaces batch row i by the former row rows[i]. The new number of rows is the length of `rows`. If
  /// `same_sentences` is true, row i translates the same sentence as before, so the encoder's results stay in their
  /// rows.
  virtual void reorder(TranslationSession& session, const torch::Tensor& rows, bool same_sentences) const = 0;

  /// Returns the attention weights of the decoder's last layer, as the mean over the heads: (B, T, S), from each target
  /// token that is to be predicted to each source token. The model must be in evaluation mode.
  virtual torch::Tensor cross_attention(const SentencePairs& pairs) = 0;

  torch::Device device() const { return parameters().at(0).device(); }

  /// Uses synthetic sentence pairs of the maximum length that the model can read and write.
  Trial trial(int64_t batch, const torch::TensorOptions& options) override;
};

struct TranslationModelPlan {
  std::string name;
  TranslationShape text;
  std::function<std::shared_ptr<TranslationModel>()> build;

  operator ModelPlan() const { return {name, input_of(text), build}; }
};

/// The values of a parallel corpus that are the default values of `[model]` keys in a recipe.
struct TranslationDefaults {
  std::optional<int64_t> source_vocabulary{}, target_vocabulary{};
  std::optional<int64_t> length{};  // maximum number of tokens of a sentence, its end included
  std::optional<bool> joint{};      // whether both languages have one vocabulary
};

using TranslationStream [[deprecated("TranslationSession")]] = TranslationSession;

}  // namespace cachet::models
