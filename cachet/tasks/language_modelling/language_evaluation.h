#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cachet/data/text/token_file.h"
#include "cachet/tasks/language_modelling/segment_losses.h"
#include "cachet/train/metrics.h"

namespace cachet::tasks {

inline constexpr const char* kBitsPerByte = "bits_per_byte";  // a metric of texts of bytes and subwords

/// A passage of a text, and what a model wrote on behind it; both are UTF-8 that can be shown.
struct WrittenSample {
  std::string given, written;
  bool operator==(const WrittenSample&) const = default;
};

/// What an evaluation found of a text.
struct LanguageEvaluation {
  int64_t tokens = 0;                         // that were foretold
  double loss = 0;                            // their mean −log p, in nats
  std::vector<double> loss_by_position = {};  // the mean over the tokens at each place of a segment
  int64_t text_bytes = 0, text_characters = 0;
  double baseline = 0;  // the perplexity of a Kneser–Ney 5-gram of the training text; 0 where none was made
  std::vector<WrittenSample> samples = {};
  std::optional<double> loss_error = {};  // the loss's standard error, of two blocks of text or more
  bool operator==(const LanguageEvaluation&) const = default;

  /// Loss, perplexity and, where they are known, bits per byte and per character, each with its standard error behind
  /// it, and the baseline's perplexity. The error of what is computed of the loss is that of the loss times the
  /// derivative (the delta method): of e^loss, the perplexity times it.
  train::Metrics metrics() const;
};

/// So many tokens of a lane that follow each other are a block, of which the standard error of the loss is computed:
/// tokens beside each other are of one passage, easy or hard together, and blocks nearly independent.
inline constexpr int64_t kBlockTokens = 512;

/// Sums up losses, segment after segment.
///
/// The standard error of the loss is that of a ratio of sums over blocks (Cochran, Sampling Techniques, 1977, §6.3):
/// with the losses S and tokens n of B blocks and the loss L = ΣS / Σn it is √(B / (B − 1) · Σ(S − L·n)²) / Σn, the
/// deviation of the blocks' means around the loss, each weighted by its tokens. A block is the segments of one lane,
/// one behind the other, until they have kBlockTokens; what is left of a lane is a smaller one.
class LanguageTally {
 public:
  /// Segments of always the same lanes, in their order.
  void add(const SegmentLosses& losses);
  LanguageEvaluation finish(const data::TokenFileFacts& text) const;

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
