#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cachet/data/text/corpora/corpus.h"
#include "cachet/tasks/language_modelling/ngram_baseline.h"
#include "cachet/tasks/language_modelling/segment_losses.h"
#include "cachet/train/step/metrics.h"

namespace cachet::tasks {

// Metrics. The share of a text that is not coded is 0 to 1.
inline constexpr const char *kBitsPerByte = "bits_per_byte", *kBitsPerCodedByte = "bits_per_coded_byte",
                            *kUncoded = "uncoded", *kTextBytes = "text_bytes";

/// What the bits of a text are divided by: the part of it that its tokens tell, or, as in version 0.1.0, all of it.
enum class BitsOf { coded_text, whole_text };

/// A passage of a text, and what a model wrote after it; both are UTF-8 that can be shown.
struct WrittenSample {
  std::string given, written;
  bool operator==(const WrittenSample&) const = default;
};

/// How long the text is that an evaluation predicts.
struct HeldOutText {
  data::TextSize text = {};      // the whole text; nothing if it is not known
  data::CodedCorpus coded = {};  // the part of it that its tokens tell
  BitsOf bits_of = BitsOf::coded_text;
  bool operator==(const HeldOutText&) const = default;

  /// The share of the text's bytes that the tokens do not tell, 0 to 1; nothing if the text's size is not known.
  std::optional<double> uncoded() const;
};

/// What an evaluation found of a text.
struct LanguageEvaluation {
  int64_t tokens = 0;                         // that were predicted
  double loss = 0;                            // their mean −log p, in nats
  std::vector<double> loss_by_position = {};  // the mean over the tokens at each place of a segment
  HeldOutText text = {};
  NgramBaseline baseline = {};
  std::vector<WrittenSample> samples = {};
  std::optional<double> loss_error = {};  // the loss's standard error, of two blocks of text or more
  bool operator==(const LanguageEvaluation&) const = default;

  /// Loss, perplexity and, if they are known, bits per byte and per character, each followed by its standard error; the
  /// share of the text that is not coded and its bytes; the baseline's perplexity. The error of what is computed of the
  /// loss is that of the loss times the derivative (the delta method): of e^loss, the perplexity times it.
  train::Metrics metrics() const;
};

/// So many tokens of a lane that follow each other are a block, of which the standard error of the loss is computed:
/// tokens next to each other are of one passage, easy or hard together, and blocks nearly independent.
inline constexpr int64_t kBlockTokens = 512;

/// Sums up losses, segment after segment.
///
/// The standard error of the loss is that of a ratio of sums over blocks (Cochran, Sampling Techniques, 1977, §6.3):
/// with the losses S and tokens n of B blocks and the loss L = ΣS / Σn it is √(B / (B − 1) · Σ(S − L·n)²) / Σn, the
/// deviation of the blocks' means around the loss, each weighted by its tokens. A block is the segments of one lane,
/// one after the other, until they have kBlockTokens; what is left of a lane is a smaller one.
class LanguageTally {
 public:
  /// Segments of always the same lanes, in their order.
  void add(const SegmentLosses& losses);
  LanguageEvaluation finish() const;  // of the losses alone

 private:
  struct Block {
    double loss = 0;
    int64_t tokens = 0;
  };
  std::optional<double> loss_error(double loss) const;

  std::vector<double> sums_;
  std::vector<int64_t> counts_;
  std::vector<Block> blocks_, open_;  // those that are full; the one that each lane is in
};

/// For the run's folder. evaluation_from_language_json gives nothing for what is no such JSON.
std::string to_json(const LanguageEvaluation& evaluation);
std::optional<LanguageEvaluation> language_evaluation_from_json(const std::string& text);

}  // namespace cachet::tasks
