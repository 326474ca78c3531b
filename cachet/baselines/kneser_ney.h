#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "cachet/data/text/corpora/token_sequence.h"
#include "cachet/data/text/encoders/vocabulary.h"

namespace cachet::baselines {

/// A text's score under a language model.
struct TextScore {
  int64_t tokens = 0;
  double log_probability = 0;             // natural
  std::vector<int64_t> matched_length{};  // how many tokens had a longest n-gram of 1, 2, … tokens that was seen
  double perplexity() const;
};

/// Interpolated modified Kneser–Ney (Chen & Goodman 1999, Sec. 3; as KenLM's lmplz without pruning): what a language
/// model must beat to have learnt anything that counting does not.
///
/// Each line starts anew after <s>, which is never predicted, and ends with `line_end`. Counts of the longest n-grams
/// are raw; those of shorter ones are the number of different words to their left, but are raw for n-grams that start
/// with <s>. With discounts D(c) of those of count 1, 2, 3 and more:
///   p(w|h) = (c(hw) − D(c))/Σ c(h·) + (D₁N₁ + D₂N₂ + D₃N₃)/Σ c(h·) · p(w|h without its first word)
/// and 1/V below single words. A context that was never seen is passed over.
class KneserNey {
 public:
  /// The discounts of n-grams of one length. Chen & Goodman estimate them from counts of counts. An estimate is used if
  /// there are n-grams of count 1, 2 and 3, and if all three discounts are above 0; else all three are kFallback, as
  /// lmplz has it with --discount_fallback. (lmplz also takes a discount of 0, which may give a token no probability.)
  struct Discounts {
    static constexpr std::array<double, 3> kFallback{0.5, 1.0, 1.5};
    std::array<int64_t, 4> counts_of_counts{};  // how many n-grams have count 1, 2, 3 and 4
    std::array<double, 3> discounts{};          // D₁, D₂, D₃: above 0, at most 1, 2 and 3
    bool fallback = false;                      // whether they are kFallback
  };

  /// order: the longest n-gram, 1 to 5. Throws std::invalid_argument for another, for a vocabulary of 2^24 − 1 tokens
  /// or more, and for an empty text.
  KneserNey(const data::TokenSequence& text, int64_t vocabulary, data::Token line_end, int64_t order);

  int64_t order() const { return static_cast<int64_t>(levels_.size()); }
  int64_t ngrams(int64_t length) const { return static_cast<int64_t>(level(length).keys.size()); }
  const Discounts& discounts(int64_t length) const { return level(length).discounts; }

  /// log p of a token after those of its line, of which the first is <s> (start()). It is finite, and the probabilities
  /// of all tokens of the vocabulary sum to 1. If `matched` is given, it becomes the length of the longest n-gram that
  /// was seen.
  double log_probability(std::span<const data::Token> line, data::Token token, int64_t* matched = nullptr) const;
  data::Token start() const { return static_cast<data::Token>(vocabulary_); }

  TextScore score(const data::TokenSequence& text) const;

 private:
  using Key = unsigned __int128;  // ids of 24 bits, the first one highest

  struct Context {
    Key key;
    int64_t begin = 0, end = 0;  // of its n-grams
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
