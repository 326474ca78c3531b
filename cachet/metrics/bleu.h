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
/// The sacreBLEU whose numbers these are: it stands at the end of a signature.
inline constexpr std::string_view kSacreBleuVersion = "2.6.0";

/// What an order without a match counts as: half of a match, a quarter in the next such order, and so on (NIST's
/// mteval-v13a.pl; method 3 of Chen and Cherry 2014), or nothing, which makes the score 0.
enum class BleuSmoothing { exponential, none };

/// As they are, sacreBLEU's of a corpus.
struct BleuOptions {
  BleuTokens tokens = BleuTokens::mteval_13a;
  BleuSmoothing smoothing = BleuSmoothing::exponential;
  bool effective_order = false;  // leave out orders of which a text has no n-grams: for single sentences
};

/// What a score is computed of. Counts of sentences add up to those of a corpus.
struct BleuCounts {
  std::array<int64_t, kBleuOrders> correct{}, total{};  // n-grams of 1 … 4 words: which match, all of the hypothesis
  int64_t hypothesis_length = 0, reference_length = 0;  // words; of the reference that is nearest in length
  BleuCounts& operator+=(const BleuCounts& other);
  bool operator==(const BleuCounts&) const = default;
};

/// A score (Papineni et al. 2002), 0 … 100.
struct Bleu {
  double score = 0;
  std::array<double, kBleuOrders> precisions{};  // percent
  double brevity_penalty = 0;
  BleuCounts counts{};
  /// Words of the hypotheses a word of the references; 0 without the latter.
  double length_ratio() const;
  /// "BLEU = 79.24 96.9/83.9/77.0/71.4 (BP = 0.969 ratio = 0.970 hyp_len = 449 ref_len = 463)", as sacreBLEU writes it.
  std::string text() const;
};

/// Counts sentence by sentence, in memory that is used again. One thread's.
class BleuCounter {
 public:
  explicit BleuCounter(BleuOptions options = {}) : options_(options), matches_(kBleuOrders) {}

  const BleuOptions& options() const { return options_; }
  /// Throws std::invalid_argument without references.
  BleuCounts count(std::string_view hypothesis, std::span<const std::string_view> references);

 private:
  BleuOptions options_;
  std::vector<BleuTokenizer> tokenizers_;  // one a reference, in whose memory its words lie, and the hypothesis's
  DenseIds<std::string_view> words_;       // of the references
  NgramMatches matches_;
  std::vector<uint32_t> units_;
};

Bleu bleu(const BleuCounts& counts, const BleuOptions& options = {});

/// Of a corpus: one hypothesis a sentence, and one stream of references or several, a reference a sentence each. Throws
/// std::invalid_argument for no sentences, no references, and streams of another length, which it names.
Bleu corpus_bleu(std::span<const std::string> hypotheses, std::span<const std::vector<std::string>> references,
                 const BleuOptions& options = {});

/// Of one sentence, with orders of which it has no n-grams left out.
Bleu sentence_bleu(std::string_view hypothesis, std::span<const std::string_view> references, BleuOptions options = {});

/// "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0"; without a number, sentences have several: "nrefs:var".
std::string bleu_signature(const BleuOptions& options, std::optional<int64_t> references = 1);

}  // namespace cachet::metrics
