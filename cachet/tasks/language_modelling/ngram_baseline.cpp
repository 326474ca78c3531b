#include "cachet/tasks/language_modelling/ngram_baseline.h"

#include "cachet/baselines/kneser_ney.h"
#include "cachet/report/format.h"

namespace cachet::tasks {
namespace {

// "1, 2 and 3 tokens": the lengths of n-grams whose discounts are fixed ones.
std::string lengths_with_fallback(const baselines::KneserNey& ngrams) {
  std::vector<std::string> lengths;
  for (int64_t length = 1; length <= ngrams.order(); ++length)
    if (ngrams.discounts(length).fallback) lengths.push_back(std::to_string(length));
  std::string text;
  for (size_t i = 0; i < lengths.size(); ++i)
    text += (i == 0 ? "" : i + 1 == lengths.size() ? " and " : ", ") + lengths[i];
  return text.empty() ? text : text + (text == "1" ? " token" : " tokens");
}

}  // namespace

NgramBaseline no_ngram_baseline(const std::string& why) {
  return {.notes = {"there is no " + std::to_string(NgramBaseline::kOrder) + "-gram baseline: " + why}};
}

NgramBaseline ngram_baseline(const data::TokenSequence& training, const data::TokenSequence& held_out,
                             int64_t vocabulary, data::Token line_end) {
  const auto count = [](int64_t tokens) { return report::format_count(static_cast<double>(tokens)); };
  if (training.size() > NgramBaseline::kMaxTrainingTokens)
    return no_ngram_baseline("the training text has " + count(training.size()) +
                             " tokens, but n-grams are counted for at most " +
                             count(NgramBaseline::kMaxTrainingTokens) + " tokens");
  const baselines::KneserNey ngrams(training, vocabulary, line_end, NgramBaseline::kOrder);
  NgramBaseline baseline{.perplexity = ngrams.score(held_out).perplexity()};
  if (const std::string lengths = lengths_with_fallback(ngrams); !lengths.empty())
    baseline.notes.push_back(
        "the 5-gram baseline uses the fixed discounts 0.5, 1 and 1.5 for n-grams of " + lengths +
        ", because the training text gives no valid estimate of the discounts. This happens if a text has few words or "
        "repeated lines");
  return baseline;
}

}  // namespace cachet::tasks
