#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/metrics/bleu_tokenizer.h"
#include "cachet/metrics/dense_ids.h"
#include "cachet/metrics/ngram_matches.h"

namespace cachet::metrics {

inline constexpr size_t kBleuOrders = 4;
/// The version of sacreBLEU whose results these functions reproduce. The signatures of scores end with this version of
/// sacreBLEU.
inline constexpr std::string_view kSacreBleuVersion = "2.6.0";

/// The count that is used for an order (n-gram length) without matches. With `exponential`, the first order without
/// matches gets the count 1/2, the second 1/4, and so on (NIST's mteval-v13a.pl; method 3 of Chen and Cherry 2014).
/// With `none`, the count of an order without matches stays 0, so that the whole BLEU score is 0.
enum class BleuSmoothing { exponential, none };

/// Options of BLEU. The defaults are sacreBLEU's defaults for a corpus.
struct BleuOptions {
  BleuTokens tokens = BleuTokens::mteval_13a;
  BleuSmoothing smoothing = BleuSmoothing::exponential;
  bool effective_order = false;  // whether to ignore orders without n-grams in the text (for single sentences)
};

/// The counts from which a BLEU score is computed. Each count of a corpus is the sum of its sentences' counts.
struct BleuCounts {
  std::array<int64_t, kBleuOrders> correct{}, total{};  // n-grams of 1 … 4 words: matches; all in the hypothesis
  int64_t hypothesis_length = 0, reference_length = 0;  // in words; the reference nearest in length counts
  BleuCounts& operator+=(const BleuCounts& other);
  bool operator==(const BleuCounts&) const = default;
};

/// A BLEU score (Papineni et al. 2002), 0 … 100.
struct Bleu {
  double score = 0;
  std::array<double, kBleuOrders> precisions{};  // percent
  double brevity_penalty = 0;
  BleuCounts counts{};
  /// Returns the words of the hypotheses divided by the words of the references, or 0 if the references have no words.
  double length_ratio() const;
  /// Returns sacreBLEU's "BLEU = 79.24 96.9/83.9/77.0/71.4 (BP = 0.969 ratio = 0.970 hyp_len = 449 ref_len = 463)".
  std::string text() const;
};

/// Counts n-grams, sentence by sentence. The counter reuses its memory for each sentence. Each thread needs its own
/// BleuCounter.
class BleuCounter {
 public:
  explicit BleuCounter(BleuOptions options = {}) : options_(options), matches_(kBleuOrders) {}

  const BleuOptions& options() const { return options_; }
  /// Returns the BLEU counts of one sentence. Throws std::invalid_argument if there are no references.
  BleuCounts count(std::string_view hypothesis, std::span<const std::string_view> references);

 private:
  BleuOptions options_;
  std::vector<BleuTokenizer> tokenizers_;  // one for the hypothesis, one for each reference, with its words
  DenseIds<std::string_view> words_;       // numbers of the words of the references
  NgramMatches matches_;
  std::vector<uint32_t> units_;
};

Bleu bleu(const BleuCounts& counts, const BleuOptions& options = {});

/// Returns the BLEU score of a corpus. Each element of `references` has one reference for each hypothesis. If there are
/// no sentences or no references, or if an element of `references` does not have the length of `hypotheses`, throws
/// std::invalid_argument; the message names the element.
Bleu corpus_bleu(std::span<const std::string> hypotheses, std::span<const std::vector<std::string>> references,
                 const BleuOptions& options = {});

/// Returns the BLEU score of a sentence. Orders (n-gram lengths) for which the sentence has no n-grams are ignored.
Bleu sentence_bleu(std::string_view hypothesis, std::span<const std::string_view> references, BleuOptions options = {});

/// Returns "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0", or "nrefs:var" if `references` is empty.
std::string bleu_signature(const BleuOptions& options, std::optional<int64_t> references = 1);

}  // namespace cachet::metrics
