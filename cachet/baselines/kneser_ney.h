#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "cachet/data/text/corpora/token_sequence.h"
#include "cachet/data/text/encoders/vocabulary.h"

namespace cachet::baselines {

/// The score that a language model gives to a text.
struct TextScore {
  int64_t tokens = 0;
  double log_probability = 0;             // natural logarithm
  std::vector<int64_t> matched_length{};  // element i: number of tokens whose longest known n-gram has i + 1 tokens
  double perplexity() const;
};

/// Interpolated modified Kneser–Ney (Chen & Goodman 1999, Sec. 3; like KenLM's lmplz without pruning). A language model
/// must be better than this baseline to have learned more than n-gram counts.
///
/// Each line begins with <s>, which is never predicted, and ends with `line_end`. The count of a longest n-gram, or of
/// an n-gram that begins with <s>, is its number of occurrences. The count of a shorter n-gram without <s> is the
/// number of different words that precede it. With the discounts D(c) for counts of 1, of 2, and of 3 or more:
///   p(w|h) = (c(hw) − D(c))/Σ c(h·) + (D₁N₁ + D₂N₂ + D₃N₃)/Σ c(h·) · p(w|h without its first word)
/// and p = 1/V below single words. If a context was never seen, the next shorter context is used.
class KneserNey {
 public:
  /// The three discounts D for n-grams of one length. Chen & Goodman estimate the discounts from counts of counts. If
  /// there are n-grams of count 1, 2 and 3, and if all three estimates are above 0, the discounts are these estimates.
  /// If an estimate is missing or not above 0, all three discounts are kFallback, as in lmplz with --discount_fallback.
  /// (lmplz also accepts discount 0, with which a token may have probability 0.)
  struct Discounts {
    static constexpr std::array<double, 3> kFallback{0.5, 1.0, 1.5};
    std::array<int64_t, 4> counts_of_counts{};  // numbers of n-grams with count 1, 2, 3 and 4
    std::array<double, 3> discounts{};          // D₁, D₂, D₃: above 0, at most 1, 2 and 3
    bool fallback = false;                      // whether all discounts are kFallback
  };

  /// order: length of the longest n-grams, 1 to 5. If the order is not from 1 to 5, if the vocabulary has 2^24 − 1 or
  /// more tokens, or if the text is empty, throws std::invalid_argument.
  KneserNey(const data::TokenSequence& text, int64_t vocabulary, data::Token line_end, int64_t order);

  int64_t order() const { return static_cast<int64_t>(levels_.size()); }
  int64_t ngrams(int64_t length) const { return static_cast<int64_t>(level(length).keys.size()); }
  const Discounts& discounts(int64_t length) const { return level(length).discounts; }

  /// Returns log p of a token. `line`: the earlier tokens of the same line; the first is <s> (start()). The returned
  /// log-probability is finite, and the probabilities of all tokens of the vocabulary sum to 1. If `matched` is not
  /// null, the length of the longest known n-gram is stored in *matched.
  double log_probability(std::span<const data::Token> line, data::Token token, int64_t* matched = nullptr) const;
  data::Token start() const { return static_cast<data::Token>(vocabulary_); }

  TextScore score(const data::TokenSequence& text) const;

 private:
  using Key = unsigned __int128;  // ids of 24 bits each, the first id in the highest bits

  struct Context {
    Key key;
    int64_t begin = 0, end = 0;  // range of the n-grams of the context
    double total = 0, kept_back = 0;
  };
  struct Level {
    std::vector<Key> keys;  // ascending
    std::vector<uint32_t> counts;
    Discounts discounts;
    std::vector<Context> contexts;  // ascending
    void make_discounts();
    void make_contexts();
    double discount(uint32_t count) const;
  };
  const Level& level(int64_t length) const { return levels_.at(static_cast<size_t>(length - 1)); }

  int64_t vocabulary_;
  data::Token line_end_;
  std::vector<Level> levels_;
};

}  // namespace cachet::baselines
