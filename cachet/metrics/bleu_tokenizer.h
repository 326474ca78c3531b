#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cachet::metrics {

/// How a sentence becomes the words that BLEU counts.
enum class BleuTokens {
  mteval_13a,  // NIST's mteval-v13a.pl, as sacreBLEU has it: punctuation apart, but within numbers
  blanks       // the text is tokenized already: what stands between blanks ("none" in sacreBLEU)
};

/// Splits sentences in UTF-8 into words. Nothing is normalised and no byte refused: composed and decomposed characters
/// stay as they are, a byte-order mark is part of the first word.
class BleuTokenizer {
 public:
  explicit BleuTokenizer(BleuTokens tokens = BleuTokens::mteval_13a) : tokens_(tokens) {}

  /// The words, which lie in the tokenizer's memory, or in `sentence`, until it is called again.
  const std::vector<std::string_view>& words(std::string_view sentence);
  /// The same with one space between them.
  std::string text(std::string_view sentence);

 private:
  std::string_view separate(std::string_view sentence);

  BleuTokens tokens_;
  std::string left_, right_;
  std::vector<std::string_view> words_;
};

}  // namespace cachet::metrics
