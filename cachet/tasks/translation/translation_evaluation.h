#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cachet/metrics/bleu.h"
#include "cachet/report/content.h"
#include "cachet/tasks/translation/translation_records.h"
#include "cachet/train/step/metrics.h"

namespace cachet::tasks {

/// A translated sentence and its reference.
struct TranslatedSentence {
  int64_t index = 0;  // index in the split
  std::string source{}, reference{}, hypothesis{};
  double bleu = 0;  // BLEU of the sentence alone
  bool operator==(const TranslatedSentence&) const = default;
};

/// BLEU of the sentences whose source has from `least` to `most` words.
struct BleuByLength {
  int64_t least = 0, most = 0, sentences = 0;  // most = 0: no upper bound
  double bleu = 0;
  bool operator==(const BleuByLength&) const = default;
};

/// Attention of a sentence's translation: for each predicted target token, a row with the attention weights of the
/// decoder's last layer on each source token.
struct AttentionMap {
  std::vector<std::string> source{}, target{};
  std::vector<double> values{};
  bool operator==(const AttentionMap&) const = default;
};

/// The results of an evaluation.
struct TranslationEvaluation {
  int64_t pairs = 0, tokens = 0;  // tokens: predicted tokens of the target, including end tokens
  double loss = 0, nll = 0;       // mean −log p of these tokens, in nats: loss for smoothed targets, nll for targets
  int64_t translated = 0;         // number of translated sentences; 0 if none were translated
  double bleu = 0, chrf = 0, length_ratio = 0;
  std::string bleu_text{}, signature{};  // BLEU and its signature in sacreBLEU's format
  std::vector<BleuByLength> by_length{};
  std::vector<TranslatedSentence> best{}, worst{};
  std::vector<AttentionMap> attention{};
  std::optional<double> bleu_error{}, chrf_error{};  // standard errors over at least two sentences
  bool operator==(const TranslationEvaluation&) const = default;

  /// Returns the metrics. If `translates` is true, the metrics include BLEU, chrF, their standard errors and the ratio
  /// of lengths (translation / reference).
  train::Metrics metrics(bool translates) const;
};

/// Sums the losses of sentence pairs.
class TranslationTally {
 public:
  void add(const PairLosses& losses);
  void finish(TranslationEvaluation& evaluation) const;

 private:
  int64_t pairs_ = 0, tokens_ = 0;
  double loss_ = 0, nll_ = 0;
};

/// Scores translations. Sets sentences[i].bleu, and all results of an evaluation except its attention maps.
void score_translations(std::vector<TranslatedSentence> sentences, const metrics::BleuOptions& options,
                        TranslationEvaluation& evaluation);

/// Write and read the JSON of a translation evaluation in the run's folder. If the JSON does not have the form of a
/// translation evaluation, the function that reads it returns an empty value.
std::string to_json(const TranslationEvaluation& evaluation);
std::optional<TranslationEvaluation> translation_evaluation_from_json(const std::string& text);

/// Returns the sections that show the evaluation on the page of a run.
std::vector<report::Section> translation_sections(const TranslationEvaluation& evaluation);

}  // namespace cachet::tasks
