#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/metrics/ngram_matches.h"

namespace cachet::metrics {

/// As they are, sacreBLEU's.
struct ChrfOptions {
  int64_t character_order = 6;  // n-grams of 1 … so many characters
  int64_t beta = 2;             // recall counts so many times as much as precision
  bool blanks = false;          // whether blanks are characters, or left out
};

/// What a score is computed of, by order. Counts of sentences add up to those of a corpus.
struct ChrfCounts {
  struct Order {
    int64_t hypothesis = 0, reference = 0, correct = 0;  // n-grams
    bool operator==(const Order&) const = default;
  };
  std::vector<Order> orders{};
  ChrfCounts& operator+=(const ChrfCounts& other);
  bool operator==(const ChrfCounts&) const = default;
};

/// Counts n-grams of characters, which are code points (a byte that is not UTF-8 is a character, too), sentence by
/// sentence. One thread's.
class ChrfCounter {
 public:
  /// Throws std::invalid_argument unless 1 <= character_order <= 100 and beta >= 1.
  explicit ChrfCounter(ChrfOptions options = {});

  const ChrfOptions& options() const { return options_; }
  /// Of the reference with which the sentence scores best. Throws std::invalid_argument without references.
  ChrfCounts count(std::string_view hypothesis, std::span<const std::string_view> references);

 private:
  ChrfOptions options_;
  NgramMatches matches_;
  std::vector<uint32_t> hypothesis_{}, reference_{};
};

/// The score (Popović 2015), 0 … 100: sacreBLEU's to the last bit.
double chrf(const ChrfCounts& counts, const ChrfOptions& options = {});

/// As corpus_bleu.
double corpus_chrf(std::span<const std::string> hypotheses, std::span<const std::vector<std::string>> references,
                   const ChrfOptions& options = {});
double sentence_chrf(std::string_view hypothesis, std::span<const std::string_view> references,
                     const ChrfOptions& options = {});

/// "chrF2 = 61.02", as sacreBLEU writes it.
std::string chrf_text(double score, const ChrfOptions& options = {});
/// "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.6.0".
std::string chrf_signature(const ChrfOptions& options, std::optional<int64_t> references = 1);

}  // namespace cachet::metrics
