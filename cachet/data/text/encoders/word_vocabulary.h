#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cachet/data/text/encoders/text_encoder.h"

namespace cachet::data {

inline constexpr std::string_view kEndOfLineWord = "<eos>", kUnknownWord = "<unk>";

/// A word of a vocabulary has at most so many bytes.
inline constexpr size_t kMaxWordBytes = size_t{1} << 16;

/// A word and how often it came in the text that a vocabulary was made of.
struct CountedWord {
  std::string word;
  int64_t count = 0;
  bool operator==(const CountedWord&) const = default;
};

/// Counts the words of a text, line by line. A word is what stands between blanks (space, tab, form feed, vertical tab,
/// carriage return); each line ends with <eos>.
class WordCounter {
 public:
  /// Throws io::Error "line <number>: …" for a word of more than kMaxWordBytes.
  void add_line(std::string_view line);
  int64_t tokens() const { return tokens_; }  // <eos> counted

  /// <eos> first, then by count, the more frequent first, equal ones in the order in which they came: the ids that
  /// Transformer-XL's code gives, too. Words that came fewer than `least` times, and those beyond the first `most` of
  /// the list, are added to <unk>, which is always there: at the end, with its count, where it did not come by itself.
  std::vector<CountedWord> words(int64_t most = kMaxTokens, int64_t least = 1) const;

 private:
  struct Seen {
    int64_t count = 0, order = 0;
  };
  std::unordered_map<std::string, Seen> seen_;
  int64_t tokens_ = 0, lines_ = 0;
};

/// A file of a vocabulary: a line a word, "word<tab>count". parse_words throws io::Error that begins with `name` and
/// the line: no words, no <unk>, not <eos> in the first line, a word twice or with a blank in it, no count, more words
/// than kMaxTokens.
std::string words_text(const std::vector<CountedWord>& words);
std::vector<CountedWord> parse_words(std::string_view text, const std::string& name);

/// Words as tokens. "\n" is <eos>, and <eos> "\n" again; an unknown word is <unk>.
class WordEncoder final : public TextEncoder {
 public:
  static constexpr Token kEndOfLine = 0;

  /// The words of a file of parse_words(), whose SHA-256 is the vocabulary's fingerprint.
  WordEncoder(std::string_view file, const std::string& name);

  Vocabulary vocabulary() const override { return vocabulary_; }
  /// `replaced` stays 0: words are bytes, whatever they are.
  EncodedText encode(std::string_view text, int64_t most) const override;
  const std::vector<CountedWord>& words() const { return words_; }

 private:
  std::string decode_known(const std::vector<Token>& tokens) const override;

  std::vector<CountedWord> words_;
  std::unordered_map<std::string_view, Token> ids_;
  Vocabulary vocabulary_;
};

}  // namespace cachet::data
