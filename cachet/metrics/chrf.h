#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/metrics/ngram_matches.h"

namespace cachet::metrics {

/// Options of chrF. The defaults are sacreBLEU's defaults.
struct ChrfOptions {
  int64_t character_order = 6;  // maximum n of the n-grams of characters
  int64_t beta = 2;             // weight of recall relative to precision
  bool blanks = false;          // whether blanks count as characters; if not, they are removed
};

/// The counts of n-grams, for each order n, from which the score chrF is computed. Each count of a corpus is the sum of
/// its sentences' counts.
struct ChrfCounts {
  struct Order {
    int64_t hypothesis = 0, reference = 0, correct = 0;  // numbers of n-grams
    bool operator==(const Order&) const = default;
  };
  std::vector<Order> orders{};
  ChrfCounts& operator+=(const ChrfCounts& other);
  bool operator==(const ChrfCounts&) const = default;
};

/// Counts n-grams of characters, sentence by sentence. Characters are code points; each byte that is not UTF-8 counts
/// as a character too. Each thread needs its own counter.
class ChrfCounter {
 public:
  /// Throws std::invalid_argument unless 1 <= character_order <= 100 and beta >= 1.
  explicit ChrfCounter(ChrfOptions options = {});

  const ChrfOptions& options() const { return options_; }
  /// Returns the counts of n-grams for the reference with which the hypothesis has the best score. Throws
  /// std::invalid_argument if there are no references.
  ChrfCounts count(std::string_view hypothesis, std::span<const std::string_view> references);

 private:
  ChrfOptions options_;
  NgramMatches matches_;
  std::vector<uint32_t> hypothesis_{}, reference_{};
};

/// Returns the score chrF (Popović 2015), from 0 to 100. All bits of the score equal sacreBLEU's.
double chrf(const ChrfCounts& counts, const ChrfOptions& options = {});

/// corpus_chrf() returns the score of a corpus, and sentence_chrf() the score of a sentence. The arguments and errors
/// are those of corpus_bleu() and sentence_bleu().
double corpus_chrf(std::span<const std::string> hypotheses, std::span<const std::vector<std::string>> references,
                   const ChrfOptions& options = {});
double sentence_chrf(std::string_view hypothesis, std::span<const std::string_view> references,
                     const ChrfOptions& options = {});

/// Returns the text of a score in sacreBLEU's form: "chrF2 = 61.02".
std::string chrf_text(double score, const ChrfOptions& options = {});
/// Returns the signature in sacreBLEU's form: "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.6.0".
std::string chrf_signature(const ChrfOptions& options, std::optional<int64_t> references = 1);

}  // namespace cachet::metrics
