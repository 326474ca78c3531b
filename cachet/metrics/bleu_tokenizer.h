#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cachet::metrics {

/// The rule by which a sentence is split into the words that BLEU counts.
enum class BleuTokens {
  mteval_13a,  // NIST's mteval-v13a.pl, as in sacreBLEU: separates punctuation, except within numbers
  blanks       // splits an already tokenized text at blanks ("none" in sacreBLEU)
};

/// Splits UTF-8 sentences into words. The text is not normalised, and no byte is rejected: composed and decomposed
/// characters stay as they are, and a byte-order mark is a part of the first word.
class BleuTokenizer {
 public:
  explicit BleuTokenizer(BleuTokens tokens = BleuTokens::mteval_13a) : tokens_(tokens) {}

  /// Returns the words. The returned words point into the tokenizer's memory or into `sentence`, and the next call
  /// invalidates them.
  const std::vector<std::string_view>& words(std::string_view sentence);
  /// Returns the words of `sentence` as one text, separated by spaces.
  std::string text(std::string_view sentence);

 private:
  std::string_view separate(std::string_view sentence);

  BleuTokens tokens_;
  std::string left_, right_;
  std::vector<std::string_view> words_;
};

}  // namespace cachet::metrics
