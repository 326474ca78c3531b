#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "cachet/models/language/translation_model.h"

namespace cachet::models {

/// The limits of a translation's length, in tokens without the end token. The minimum is `shortest`. The maximum length
/// is int(per_token·n + added) for a source of n tokens (see Width), but no more than the model's longest length.
struct LengthLimits {
  enum class Width {
    sentence,  // number of source tokens with the end: independent of the other sentences of the batch
    batch,     // number of tokens of the batch's longest source, as in fairseq
  };
  int64_t shortest = 1;
  double per_token = 0.0;  // fairseq's max-len-a
  int64_t added = 200;     // fairseq's max-len-b
  Width width = Width::sentence;
};

/// Returns the maximum length of the translation of each source sentence, at most `most`. Throws std::invalid_argument
/// for invalid limits.
std::vector<int64_t> longest_translations(const Sequences& source, const LengthLimits& limits, int64_t most);

/// A translation that a model found for a sentence.
struct Hypothesis {
  std::vector<int64_t> tokens;            // the last one is the end token
  std::vector<double> log_probabilities;  // log p of each token
  double score = 0.0;                     // (sum of log p) / (number of tokens)^length_penalty
};

/// Returns the score of a hypothesis from the log-probabilities of its tokens. If the length penalty is 0, the score is
/// the sum of the log-probabilities. If the length penalty is 1, the score is the mean of the log-probabilities.
double hypothesis_score(std::span<const double> log_probabilities, double length_penalty);

/// The unfinished translations of a batch. Each unfinished translation is one batch row of a decoding session. Rows of
/// finished sentences are removed, which saves their computation.
class DecodingRows {
 public:
  /// Makes one batch row for each sentence. Throws c10::Error if the model is in training mode, and
  /// std::invalid_argument for invalid limits.
  DecodingRows(TranslationModel& model, const Sequences& source, const LengthLimits& limits);

  const std::vector<int64_t>& sentences() const { return sentences_; }  // the sentence of each batch row
  int64_t step() const { return step_; }                                // number of tokens written so far
  /// Whether the next token of a sentence must be the end token (must_end), or may be the end token (may_end).
  bool must_end(int64_t sentence) const { return step_ == longest_[static_cast<size_t>(sentence)]; }
  bool may_end() const { return step_ >= limits_.shortest; }

  /// Reads the last token of each batch row (in the first step, the begin token). Returns log p of each possible next
  /// token, as a tensor (rows, vocabulary). The log-probability is −∞ for padding and for ids that only pad the
  /// vocabulary. Throws ops::NotFinite if scores are NaN or a row has no possible token.
  torch::Tensor next(std::span<const int64_t> last_tokens);
  /// Ends the step: batch row i continues the former row rows[i]. If `rows` is empty, all translations of the batch are
  /// finished.
  void go_on(std::span<const int64_t> rows);

 private:
  TranslationModel& model_;
  LengthLimits limits_;
  std::vector<int64_t> sentences_, longest_;
  TranslationSession session_;
  int64_t step_ = 0;
};

/// Orders the rows that continue (`kept`, in ascending order) so that as few as possible move. A row whose index is
/// below n = kept.size() keeps its index. A row whose index is n or larger moves to a free index below n.
std::vector<int64_t> with_gaps_filled(std::vector<int64_t> kept);

/// A function that chooses the next token of each batch row from log p, (rows, vocabulary), −∞ for an impossible token.
using ChooseTokens =
    std::function<std::vector<int64_t>(const torch::Tensor& log_probabilities, const std::vector<int64_t>& sentences,
                                       const std::vector<Hypothesis>& written)>;
/// Writes one translation for each sentence, token by token. The returned hypotheses and the argument `written` of
/// `choose` are in the order of the sentences.
std::vector<Hypothesis> write_one_by_one(TranslationModel& model, const Sequences& source, const LengthLimits& limits,
                                         double length_penalty, const ChooseTokens& choose);

using DecodingLanes [[deprecated("DecodingRows")]] = DecodingRows;

}  // namespace cachet::models
