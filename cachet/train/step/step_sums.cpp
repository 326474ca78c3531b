#include "cachet/train/step/step_sums.h"

#include <algorithm>
#include <cmath>

#include "cachet/ops/support/finite.h"

namespace cachet::train {

void require_finite_number(double value, const std::string& what, size_t micro_batch, size_t micro_batches) {
  if (std::isfinite(value)) return;
  const std::string which = micro_batches == 1 ? ""
                                               : " of micro-batch " + std::to_string(micro_batch + 1) + " of " +
                                                     std::to_string(micro_batches);
  throw ops::NotFinite("the " + what + which + " is " + (std::isnan(value) ? "NaN" : "infinite"));
}

std::vector<MetricSum> sums_of(const std::vector<MicroBatchNumbers>& micro_batches, std::span<const double> numbers,
                               bool checked) {
  std::vector<MetricSum> sums;
  auto next = numbers.begin();
  for (size_t i = 0; i < micro_batches.size(); ++i) {
    const MicroBatchNumbers& one = micro_batches[i];
    const auto take = [&](const char* name) {
      if (checked) require_finite_number(*next, name, i, micro_batches.size());
      add_sums(sums, {{name, *next++ * one.weight, one.weight}});
    };
    take(kLoss);
    if (one.has_penalty) take(kPenalty);
    for (size_t m = 0; m < one.metrics.size(); ++m) add_sums(sums, {{one.metrics[m], *next++, one.metric_counts[m]}});
  }
  return sums;
}

void add_sums(std::vector<MetricSum>& sums, const std::vector<MetricSum>& more) {
  for (const MetricSum& sum : more) {
    const auto found = std::ranges::find(sums, sum.name, &MetricSum::name);
    if (found == sums.end()) {
      sums.push_back(sum);
    } else {
      found->total += sum.total;
      found->count += sum.count;
    }
  }
}

Metrics means(const std::vector<MetricSum>& sums) {
  Metrics metrics;
  for (const MetricSum& sum : sums) {
    if (sum.count > 0) metrics.set(sum.name, sum.total / sum.count);
  }
  return metrics;
}

}  // namespace cachet::train
