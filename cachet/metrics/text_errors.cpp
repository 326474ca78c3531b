#include "cachet/metrics/text_errors.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cachet/metrics/bootstrap.h"

namespace cachet::metrics {
namespace {

constexpr int kSentenceResamples = 1000;

/// What sentences count, a row of as many numbers for each: a resample is a sum of rows.
struct CountRows {
  size_t width = 0;
  std::vector<int64_t> numbers{};

  size_t sentences() const { return width == 0 ? 0 : numbers.size() / width; }
};

template <class Score>
std::optional<double> error_of(const CountRows& rows, const Score& score_of_sums) {
  if (rows.sentences() < 2) return std::nullopt;
  Resampler resampler(rows.sentences());
  std::vector<int64_t> sums(rows.width);
  std::vector<double> scores;
  scores.reserve(kSentenceResamples);
  for (int resample = 0; resample < kSentenceResamples; ++resample) {
    std::ranges::fill(sums, 0);
    for (size_t i = 0; i < rows.sentences(); ++i) {
      const int64_t* row = rows.numbers.data() + resampler.next() * rows.width;
      for (size_t k = 0; k < rows.width; ++k) sums[k] += row[k];
    }
    scores.push_back(score_of_sums(sums));
  }
  return deviation(scores);
}

}  // namespace

std::optional<double> bleu_error(std::span<const BleuCounts> sentences, const BleuOptions& options) {
  CountRows rows{2 * kBleuOrders + 2};
  for (const BleuCounts& counts : sentences) {
    rows.numbers.insert(rows.numbers.end(), counts.correct.begin(), counts.correct.end());
    rows.numbers.insert(rows.numbers.end(), counts.total.begin(), counts.total.end());
    rows.numbers.push_back(counts.hypothesis_length);
    rows.numbers.push_back(counts.reference_length);
  }
  BleuCounts counts;
  return error_of(rows, [&](const std::vector<int64_t>& sums) {
    std::copy_n(sums.begin(), kBleuOrders, counts.correct.begin());
    std::copy_n(sums.begin() + kBleuOrders, kBleuOrders, counts.total.begin());
    counts.hypothesis_length = sums[2 * kBleuOrders];
    counts.reference_length = sums[2 * kBleuOrders + 1];
    return bleu(counts, options).score;
  });
}

std::optional<double> chrf_error(std::span<const ChrfCounts> sentences, const ChrfOptions& options) {
  ChrfCounts counts;  // with all orders that a sentence has
  for (const ChrfCounts& each : sentences) counts.orders.resize(std::max(counts.orders.size(), each.orders.size()));
  CountRows rows{3 * counts.orders.size()};
  for (const ChrfCounts& each : sentences) {
    for (size_t i = 0; i < counts.orders.size(); ++i) {
      const ChrfCounts::Order order = i < each.orders.size() ? each.orders[i] : ChrfCounts::Order{};
      rows.numbers.insert(rows.numbers.end(), {order.hypothesis, order.reference, order.correct});
    }
  }
  return error_of(rows, [&](const std::vector<int64_t>& sums) {
    for (size_t i = 0; i < counts.orders.size(); ++i)
      counts.orders[i] = {sums[3 * i], sums[3 * i + 1], sums[3 * i + 2]};
    return chrf(counts, options);
  });
}

}  // namespace cachet::metrics
