#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cachet/data/text/encoders/text_encoder.h"

namespace cachet::data {

inline constexpr std::string_view kEndOfLineWord = "<eos>", kUnknownWord = "<unk>";

/// The largest number of bytes that a word of a vocabulary may have.
inline constexpr size_t kMaxWordBytes = size_t{1} << 16;

/// A word and its count in the text from which a vocabulary was made.
struct CountedWord {
  std::string word;
  int64_t count = 0;
  bool operator==(const CountedWord&) const = default;
};

/// Counts the words of a text, line by line. Words are separated by blanks (space, tab, form feed, vertical tab,
/// carriage return). Each line ends with <eos>.
class WordCounter {
 public:
  /// Counts the words of a line. Throws io::Error "line <number>: …" for a word of more than kMaxWordBytes.
  void add_line(std::string_view line);
  int64_t tokens() const { return tokens_; }  // number of tokens, including <eos>

  /// Returns <eos>, then the words by descending count; words of equal count are in order of first occurrence.
  /// Transformer-XL sorts words alike, so each word has the same id in Cachet and in Transformer-XL. Words with a count
  /// below `least`, and words after the first `most` of the list, are counted as <unk>. The returned list always
  /// contains <unk>. If the text does not contain <unk>, <unk> is the last word of the list.
  std::vector<CountedWord> words(int64_t most = kMaxTokens, int64_t least = 1) const;

 private:
  struct Seen {
    int64_t count = 0, order = 0;
  };
  std::unordered_map<std::string, Seen> seen_;
  int64_t tokens_ = 0, lines_ = 0;
};

/// words_text() returns the file of a vocabulary, with one "word<tab>count" in each line. parse_words() reads such a
/// file, and throws io::Error, which begins with `name` and the line, if <unk> or all words are missing, if the first
/// line is not <eos>, if a word is repeated or has a blank, if a count is missing, or for more than kMaxTokens words.
std::string words_text(const std::vector<CountedWord>& words);
std::vector<CountedWord> parse_words(std::string_view text, const std::string& name);

/// Encodes words as tokens. "\n" becomes <eos>, which is decoded to "\n". An unknown word becomes <unk>.
class WordEncoder final : public TextEncoder {
 public:
  static constexpr Token kEndOfLine = 0;

  /// `file` has the bytes of a vocabulary file in the form that parse_words() reads. The file's SHA-256 is the
  /// vocabulary's fingerprint.
  WordEncoder(std::string_view file, const std::string& name);

  Vocabulary vocabulary() const override { return vocabulary_; }
  /// Returns the tokens of a text. The count `replaced` of the result stays 0, because words need not be UTF-8.
  EncodedText encode(std::string_view text, int64_t most) const override;
  const std::vector<CountedWord>& words() const { return words_; }

 private:
  std::string decode_known(const std::vector<Token>& tokens) const override;

  std::vector<CountedWord> words_;
  std::unordered_map<std::string_view, Token> ids_;
  Vocabulary vocabulary_;
};

}  // namespace cachet::data
