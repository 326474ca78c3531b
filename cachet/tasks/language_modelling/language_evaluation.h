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

// Names of metrics. kUncoded is the fraction of a text that is not coded, from 0 to 1.
inline constexpr const char *kBitsPerByte = "bits_per_byte", *kBitsPerCodedByte = "bits_per_coded_byte",
                            *kUncoded = "uncoded", *kTextBytes = "text_bytes";

/// The divisor of bits per byte: the bytes of the part that tokens encode, or, as in version 0.1.0, of the whole text.
enum class BitsOf { coded_text, whole_text };

/// A passage of a text, and the model's continuation; both are UTF-8 that can be shown.
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
  int64_t tokens = 0;                         // predicted tokens
  double loss = 0;                            // mean −log p of these tokens, in nats
  std::vector<double> loss_by_position = {};  // mean over the tokens at each position of a segment
  HeldOutText text = {};
  NgramBaseline baseline = {};
  std::vector<WrittenSample> samples = {};
  std::optional<double> loss_error = {};  // the loss's standard error; set if there are at least two blocks of text
  bool operator==(const LanguageEvaluation&) const = default;

  /// Returns loss, perplexity and, if they are known, bits per byte and per character, each followed by its standard
  /// error; the fraction of the text that is not coded; the text's bytes; the baseline's perplexity. The error of a
  /// function of the loss is the loss's error times the derivative (the delta method): for e^loss, the perplexity.
  train::Metrics metrics() const;
};

/// Number of consecutive tokens of a batch row in a block. The standard error of the loss is computed over blocks,
/// which are nearly independent: adjacent tokens belong to one passage and are easy or hard together.
inline constexpr int64_t kBlockTokens = 512;

/// Sums losses, segment after segment.
///
/// The standard error of the loss is that of a ratio of sums over blocks (Cochran, Sampling Techniques, 1977, §6.3).
/// With the losses S and tokens n of B blocks and the loss L = ΣS / Σn, it is √(B / (B − 1) · Σ(S − L·n)²) / Σn: the
/// deviation of the blocks' means from the loss, each weighted by its tokens. A block is consecutive segments of one
/// batch row, until they have kBlockTokens; the rest of a row is a smaller block.
class LanguageTally {
 public:
  /// Adds segments in their order. All segments have the same batch rows.
  void add(const SegmentLosses& losses);
  LanguageEvaluation finish() const;  // sets only the values of the losses

 private:
  struct Block {
    double loss = 0;
    int64_t tokens = 0;
  };
  std::optional<double> loss_error(double loss) const;

  std::vector<double> sums_;
  std::vector<int64_t> counts_;
  std::vector<Block> blocks_, open_;  // blocks_: the full blocks; open_: the current block of each batch row
};

/// Write and read the JSON in the run's folder. Reading returns an empty value for other JSON.
std::string to_json(const LanguageEvaluation& evaluation);
std::optional<LanguageEvaluation> language_evaluation_from_json(const std::string& text);

}  // namespace cachet::tasks
