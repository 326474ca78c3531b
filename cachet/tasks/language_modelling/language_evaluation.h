#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cachet/data/text/corpora/corpus.h"
#include "cachet/metrics/loss_error.h"
#include "cachet/tasks/language_modelling/ngram_baseline.h"
#include "cachet/tasks/language_modelling/segment_losses.h"
#include "cachet/train/step/metrics.h"

namespace cachet::tasks {

// Names of metrics. kUncoded is the fraction (0 to 1) of a text's bytes that the tokens do not encode.
inline constexpr const char *kBitsPerByte = "bits_per_byte", *kBitsPerCodedByte = "bits_per_coded_byte",
                            *kUncoded = "uncoded", *kTextBytes = "text_bytes";

/// The divisor of "bits per byte": the bytes of the encoded text, or (as in version 0.1.0) of the whole text.
enum class BitsOf { coded_text, whole_text };

/// A passage of a text, and the model's continuation, both as valid UTF-8 for display.
struct WrittenSample {
  std::string given, written;
  bool operator==(const WrittenSample&) const = default;
};

/// The length of the text that an evaluation predicts.
struct HeldOutText {
  data::TextSize text = {};      // size of the whole text; empty if it is not known
  data::CodedCorpus coded = {};  // the part of the text that the tokens encode
  BitsOf bits_of = BitsOf::coded_text;
  bool operator==(const HeldOutText&) const = default;

  /// Returns the fraction of the text's bytes that the tokens do not encode, 0 to 1; empty if the size is not known.
  std::optional<double> uncoded() const;
};

/// The results of an evaluation on a text.
struct LanguageEvaluation {
  int64_t tokens = 0;                         // number of predicted tokens
  double loss = 0;                            // mean −log p of these tokens, in nats
  std::vector<double> loss_by_position = {};  // mean loss at each position of a segment
  HeldOutText text = {};
  NgramBaseline baseline = {};
  std::vector<WrittenSample> samples = {};
  std::optional<double> loss_error = {};  // the loss's standard error; set if there are at least two blocks of text
  bool operator==(const LanguageEvaluation&) const = default;

  /// Returns perplexity, loss and, if known, bits per byte and per character, each with its standard error; then
  /// kUncoded, the text's bytes and the baseline's perplexity. By the delta method, the standard error of the
  /// perplexity, e^loss, is the standard error of the loss times the perplexity.
  train::Metrics metrics() const;
};

using metrics::kBlockTokens;

/// Sums losses, segment after segment. The standard error of the loss is computed over blocks (metrics::TextBlocks).
class LanguageTally {
 public:
  /// Adds a segment's losses. Segments must be added in text order, and all segments have the same batch rows.
  void add(const SegmentLosses& losses);
  LanguageEvaluation finish() const;  // sets only the members that the losses determine

 private:
  std::vector<double> sums_;
  std::vector<int64_t> counts_;
  metrics::TextBlocks blocks_;
};

/// Convert an evaluation to the JSON in the run's folder, and convert this JSON back to an evaluation. If the text is
/// not the JSON of an evaluation, the reading function returns std::nullopt.
std::string to_json(const LanguageEvaluation& evaluation);
std::optional<LanguageEvaluation> language_evaluation_from_json(const std::string& text);

}  // namespace cachet::tasks
