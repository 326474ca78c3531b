#include "cachet/metrics/chrf.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <stdexcept>
#include <utility>

#include "cachet/metrics/blanks.h"
#include "cachet/metrics/bleu.h"
#include "cachet/metrics/sentence_lists.h"

namespace cachet::metrics {
namespace {

constexpr int64_t kMaxOrders = 100;
constexpr uint32_t kStrayByte = 0x200000;  // above all code points

struct Character {
  uint32_t number;  // which no other one has
  size_t bytes;
};

// The code point there; where no sequence of UTF-8 begins, the byte.
Character character_at(std::string_view text, size_t at) {
  constexpr std::array<uint32_t, 5> kMin{0, 0, 0x80, 0x800, 0x10000};  // that needs so many bytes
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 0x80) return {first, 1};
  const Character stray{kStrayByte + first, 1};
  const size_t bytes = first < 0xC2 || first > 0xF4 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (bytes == 1 || at + bytes > text.size()) return stray;
  uint32_t point = first & (0xFFu >> (bytes + 1));
  for (size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[at + i]);
    if ((next & 0xC0) != 0x80) return stray;
    point = point << 6 | (next & 0x3F);
  }
  const bool is_surrogate = point >= 0xD800 && point < 0xE000;
  return point < kMin[bytes] || point > 0x10FFFF || is_surrogate ? stray : Character{point, bytes};
}

void characters_of(std::string_view text, bool blanks, std::vector<uint32_t>& characters) {
  characters.clear();
  for (size_t at = 0; at < text.size();) {
    const size_t blank = blanks ? 0 : blank_at(text, at);
    const Character character = character_at(text, at);
    if (blank == 0) characters.push_back(character.number);
    at += character.bytes;
  }
}

}  // namespace

ChrfCounts& ChrfCounts::operator+=(const ChrfCounts& other) {
  if (orders.size() < other.orders.size()) orders.resize(other.orders.size());
  for (size_t i = 0; i < other.orders.size(); ++i) {
    orders[i].hypothesis += other.orders[i].hypothesis;
    orders[i].reference += other.orders[i].reference;
    orders[i].correct += other.orders[i].correct;
  }
  return *this;
}

ChrfCounter::ChrfCounter(ChrfOptions options)
    : options_(options),
      matches_(options.character_order < 1 || options.character_order > kMaxOrders
                   ? throw std::invalid_argument("chrF: the n-grams must have 1 to 100 characters")
                   : static_cast<size_t>(options.character_order)) {
  if (options.beta < 1) throw std::invalid_argument("chrF: beta must be at least 1");
}

ChrfCounts ChrfCounter::count(std::string_view hypothesis, std::span<const std::string_view> references) {
  if (references.empty()) throw std::invalid_argument("chrF needs a reference for each sentence");
  characters_of(hypothesis, options_.blanks, hypothesis_);
  ChrfCounts best;
  double best_score = -1;
  for (const std::string_view reference : references) {
    characters_of(reference, options_.blanks, reference_);
    matches_.clear();
    matches_.add_reference(reference_);
    const std::vector<int64_t> correct = matches_.matches(hypothesis_);
    ChrfCounts counts;
    for (size_t n = 1; n <= matches_.orders(); ++n) {
      const int64_t here = NgramMatches::count(reference_.size(), n);
      // An order that the reference does not have does not count for the sentence.
      counts.orders.push_back({here == 0 ? 0 : NgramMatches::count(hypothesis_.size(), n), here, correct[n - 1]});
    }
    if (const double score = chrf(counts, options_); score > best_score) {
      best_score = score;
      best = std::move(counts);
    }
  }
  return best;
}

double chrf(const ChrfCounts& counts, const ChrfOptions& options) {
  double precision = 0, recall = 0;
  int64_t orders = 0;
  for (const ChrfCounts::Order& order : counts.orders) {
    if (order.hypothesis == 0 || order.reference == 0) continue;
    precision += static_cast<double>(order.correct) / static_cast<double>(order.hypothesis);
    recall += static_cast<double>(order.correct) / static_cast<double>(order.reference);
    ++orders;
  }
  if (precision + recall == 0) return 0;
  precision /= static_cast<double>(orders);
  recall /= static_cast<double>(orders);
  const auto weight = static_cast<double>(options.beta * options.beta);
  // In sacreBLEU's order of operations: the last bit depends on it.
  const double score = (1 + weight) * precision * recall / (weight * precision + recall);
  return 100 * score;
}

double corpus_chrf(std::span<const std::string> hypotheses, std::span<const std::vector<std::string>> references,
                   const ChrfOptions& options) {
  check_streams(hypotheses, references);
  ChrfCounter counter(options);
  ChrfCounts sum;
  std::vector<std::string_view> of_sentence;
  for (size_t i = 0; i < hypotheses.size(); ++i) {
    of_sentence.clear();
    for (const auto& lines : references) of_sentence.emplace_back(lines[i]);
    sum += counter.count(hypotheses[i], of_sentence);
  }
  return chrf(sum, options);
}

double sentence_chrf(std::string_view hypothesis, std::span<const std::string_view> references,
                     const ChrfOptions& options) {
  return chrf(ChrfCounter(options).count(hypothesis, references), options);
}

std::string chrf_text(double score, const ChrfOptions& options) {
  std::array<char, 64> line;
  const int written =
      std::snprintf(line.data(), line.size(), "chrF%lld = %.2f", static_cast<long long>(options.beta), score);
  return {line.data(), std::min(static_cast<size_t>(written), line.size() - 1)};
}

std::string chrf_signature(const ChrfOptions& options, std::optional<int64_t> references) {
  return "nrefs:" + (references ? std::to_string(*references) : std::string("var")) +
         "|case:mixed|eff:yes|nc:" + std::to_string(options.character_order) +
         "|nw:0|space:" + (options.blanks ? "yes" : "no") + "|version:" + std::string(kSacreBleuVersion);
}

}  // namespace cachet::metrics
