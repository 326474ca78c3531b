#include "cachet/metrics/bleu.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "cachet/metrics/sentence_lists.h"

namespace cachet::metrics {
namespace {

// The reference length that is nearest, the shorter of two.
int64_t nearest_length(int64_t hypothesis, std::span<const int64_t> references) {
  return *std::ranges::min_element(
      references, {}, [hypothesis](int64_t length) { return std::pair(std::abs(hypothesis - length), length); });
}

double brevity_penalty(const BleuCounts& counts) {
  if (counts.hypothesis_length >= counts.reference_length) return 1;
  if (counts.hypothesis_length == 0) return 0;
  return std::exp(1 - static_cast<double>(counts.reference_length) / static_cast<double>(counts.hypothesis_length));
}

}  // namespace

BleuCounts& BleuCounts::operator+=(const BleuCounts& other) {
  for (size_t i = 0; i < kBleuOrders; ++i) {
    correct[i] += other.correct[i];
    total[i] += other.total[i];
  }
  hypothesis_length += other.hypothesis_length;
  reference_length += other.reference_length;
  return *this;
}

double Bleu::length_ratio() const {
  if (counts.reference_length == 0) return 0;
  return static_cast<double>(counts.hypothesis_length) / static_cast<double>(counts.reference_length);
}

std::string Bleu::text() const {
  std::array<char, 256> line;
  const int written =
      std::snprintf(line.data(), line.size(),
                    "BLEU = %.2f %.1f/%.1f/%.1f/%.1f (BP = %.3f ratio = %.3f hyp_len = %lld ref_len = %lld)", score,
                    precisions[0], precisions[1], precisions[2], precisions[3], brevity_penalty, length_ratio(),
                    static_cast<long long>(counts.hypothesis_length), static_cast<long long>(counts.reference_length));
  return {line.data(), std::min(static_cast<size_t>(written), line.size() - 1)};
}

BleuCounts BleuCounter::count(std::string_view hypothesis, std::span<const std::string_view> references) {
  if (references.empty()) throw std::invalid_argument("BLEU needs a reference for each sentence");
  tokenizers_.resize(std::max(tokenizers_.size(), references.size() + 1), BleuTokenizer(options_.tokens));
  matches_.clear();
  words_.clear();
  std::vector<int64_t> lengths;
  for (size_t i = 0; i < references.size(); ++i) {
    units_.clear();
    for (const std::string_view word : tokenizers_[i + 1].words(references[i])) units_.push_back(words_.add(word));
    matches_.add_reference(units_);
    lengths.push_back(static_cast<int64_t>(units_.size()));
  }
  units_.clear();
  for (const std::string_view word : tokenizers_[0].words(hypothesis)) units_.push_back(words_.find(word));

  BleuCounts counts;
  counts.hypothesis_length = static_cast<int64_t>(units_.size());
  counts.reference_length = nearest_length(counts.hypothesis_length, lengths);
  const std::vector<int64_t> correct = matches_.matches(units_);
  std::ranges::copy(correct, counts.correct.begin());
  for (size_t n = 1; n <= kBleuOrders; ++n) counts.total[n - 1] = NgramMatches::count(units_.size(), n);
  return counts;
}

Bleu bleu(const BleuCounts& counts, const BleuOptions& options) {
  Bleu result{.score = 0, .precisions = {}, .brevity_penalty = brevity_penalty(counts), .counts = counts};
  if (std::ranges::all_of(counts.correct, [](int64_t correct) { return correct == 0; })) return result;
  double smoothed = 1;
  size_t orders = kBleuOrders;
  for (size_t i = 0; i < kBleuOrders && counts.total[i] > 0; ++i) {
    if (options.effective_order) orders = i + 1;
    const auto total = static_cast<double>(counts.total[i]);
    if (counts.correct[i] > 0) {
      result.precisions[i] = 100 * static_cast<double>(counts.correct[i]) / total;
    } else if (options.smoothing == BleuSmoothing::exponential) {
      smoothed *= 2;
      result.precisions[i] = 100 / (smoothed * total);
    }
  }
  double sum = 0;  // of logarithms: −∞ where an order counts as nothing
  for (size_t i = 0; i < orders; ++i) sum += std::log(result.precisions[i]);
  result.score = result.brevity_penalty * std::exp(sum / static_cast<double>(orders));
  return result;
}

Bleu corpus_bleu(std::span<const std::string> hypotheses, std::span<const std::vector<std::string>> references,
                 const BleuOptions& options) {
  check_streams(hypotheses, references);
  BleuCounter counter(options);
  BleuCounts sum;
  std::vector<std::string_view> of_sentence(references.size());
  for (size_t i = 0; i < hypotheses.size(); ++i) {
    std::ranges::transform(references, of_sentence.begin(),
                           [i](const auto& lines) { return std::string_view(lines[i]); });
    sum += counter.count(hypotheses[i], of_sentence);
  }
  return bleu(sum, options);
}

Bleu sentence_bleu(std::string_view hypothesis, std::span<const std::string_view> references, BleuOptions options) {
  options.effective_order = true;
  return bleu(BleuCounter(options).count(hypothesis, references), options);
}

std::string bleu_signature(const BleuOptions& options, std::optional<int64_t> references) {
  return "nrefs:" + (references ? std::to_string(*references) : std::string("var")) +
         "|case:mixed|eff:" + (options.effective_order ? "yes" : "no") +
         "|tok:" + (options.tokens == BleuTokens::mteval_13a ? "13a" : "none") +
         "|smooth:" + (options.smoothing == BleuSmoothing::exponential ? "exp" : "none") +
         "|version:" + std::string(kSacreBleuVersion);
}

}  // namespace cachet::metrics
