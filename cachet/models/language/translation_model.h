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

/// The ids that stand for no text: padding of both languages, the others of the one that is translated to.
struct TranslationTokens {
  int64_t padding = 0;
  int64_t begin = 2;  // what a translation is begun with; fairseq begins with the end
  int64_t end = 3;    // of a sentence
  /// Ids of the language that is translated to lie below it; those from it on only pad the model's vocabulary, and no
  /// translation has them. 0: the model's vocabulary has no such ids.
  int64_t known = 0;
  bool operator==(const TranslationTokens&) const = default;
};

/// What pairs of sentences a translation model is made for.
struct TranslationShape {
  int64_t source_vocabulary = 0, target_vocabulary = 0;  // ids are below them
  int64_t source_length = 512, target_length = 512;      // tokens of the longest sentence, its end included
  TranslationTokens tokens{};
};

ModelInput input_of(const TranslationShape& text);

/// A batch of pairs of sentences.
struct SentencePairs {
  Sequences source;       // (B, S), each with its end; padding on either side
  Sequences target;       // (B, T) what the model has written before each token: the begin, then all but the end;
                          // padding after it
  torch::Tensor targets;  // (B, T) int64: the tokens themselves, the end the last of them; −1 for none
};

/// How the probability ε that label smoothing takes from the right token is shared out.
enum class SmoothingShare {
  others,  // among the V − 1 others: fairseq since 1.0.0a0
  all,     // among all V, the right one too: fairseq to 0.10.2, and PyTorch
};

struct LabelSmoothing {
  double amount = 0.0;  // ε in [0, 1)
  SmoothingShare share = SmoothingShare::others;
};

/// The ε of SmoothingShare::others that gives the same loss over `vocabulary` tokens.
double smoothing_among_others(const LabelSmoothing& smoothing, int64_t vocabulary);

/// Both are (B, T), in nats and in float32 or wider, 0 without a target.
struct TranslationLosses {
  torch::Tensor loss;                     // of smoothed targets, what is trained on
  torch::Tensor negative_log_likelihood;  // what is reported; has no gradient
};

/// What the encoder makes of a batch of sentences.
struct EncodedSentences {
  torch::Tensor tokens;   // (B, S, D), zero at the padding
  torch::Tensor padding;  // (B, S) bool, true = padding; undefined = none
};

/// Translations that are written token by token: the decoder's state of each batch row. All rows have equally many
/// tokens.
struct TranslationSession {
  std::shared_ptr<nn::AttentionState> state;
  EncodedSentences source;  // until the first call has projected it
  int64_t written = 0;      // tokens, the begin included

  int64_t batch_rows() const { return state->batch_rows(); }
  [[deprecated("batch_rows")]] int64_t lanes() const { return batch_rows(); }
};

/// A model of a sentence's translation: a distribution over the target vocabulary after each of its tokens.
class TranslationModel : public virtual Model {
 public:
  virtual TranslationShape translation_shape() const = 0;
  /// What the vocabularies that are opened mean by these ids. The padding must stay: positions are counted from it.
  /// Throws c10::Error for ids that the target vocabulary does not have.
  virtual void set_tokens(const TranslationTokens& tokens) = 0;

  /// Throws c10::Error for sentences longer than the model was made for.
  virtual EncodedSentences encode(const Sequences& source) = 0;
  /// The losses of all target tokens of pairs at once. Throws c10::Error for sentences longer than the model was made
  /// for.
  virtual TranslationLosses losses(const SentencePairs& pairs, const LabelSmoothing& smoothing) = 0;

  /// A session before the first token, one batch row for each sentence. For evaluation: training mode throws
  /// c10::Error.
  virtual TranslationSession make_session(const EncodedSentences& source) = 0;
  [[deprecated("make_session")]] TranslationSession make_stream(const EncodedSentences& source) {
    return make_session(source);
  }
  /// ids (rows) int64, the next token of each batch row, the begin at first -> log p of the token after it (rows,
  /// target vocabulary), in float32 or wider. Advances the session by these ids.
  virtual torch::Tensor next_token(const torch::Tensor& ids, TranslationSession& session) = 0;
  /// Batch row i becomes the former row rows[i], for as many rows as `rows` has. `same_sentences`: row i translates the
  /// same sentence as before, so that nothing of the encoder moves.
  virtual void reorder(TranslationSession& session, const torch::Tensor& rows, bool same_sentences) const = 0;

  /// How much the last layer of the decoder attends to each source token when it predicts a target token, the mean over
  /// its heads: (B, T, S). In evaluation.
  virtual torch::Tensor cross_attention(const SentencePairs& pairs) = 0;

  torch::Device device() const { return parameters().at(0).device(); }

  /// Synthetic pairs of the longest sentences.
  Trial trial(int64_t batch, const torch::TensorOptions& options) override;
};

struct TranslationModelPlan {
  std::string name;
  TranslationShape text;
  std::function<std::shared_ptr<TranslationModel>()> build;

  operator ModelPlan() const { return {name, input_of(text), build}; }
};

/// What parallel text requires of the model, as defaults of the recipe.
struct TranslationDefaults {
  std::optional<int64_t> source_vocabulary{}, target_vocabulary{};
  std::optional<int64_t> length{};  // tokens of the longest sentence, its end included
  std::optional<bool> joint{};      // both languages have one vocabulary
};

using TranslationStream [[deprecated("TranslationSession")]] = TranslationSession;

}  // namespace cachet::models
