#pragma once

#include <span>
#include <string>
#include <vector>

#include "cachet/train/step/metrics.h"

namespace cachet::train {

inline constexpr const char* kLoss = "loss";
inline constexpr const char* kPenalty = "penalty";

/// Describes the numbers of a micro-batch that a step reads from the device, in this order: the loss divided by the
/// weight, the penalty (if any), and the total of each metric.
struct MicroBatchNumbers {
  double weight = 0;
  bool has_penalty = false;
  std::vector<std::string> metrics;   // names
  std::vector<double> metric_counts;  // divisor of each total

  size_t size() const { return 1 + (has_penalty ? 1 : 0) + metrics.size(); }
};

/// Throws NotFinite if `value` is NaN or infinite. `what` and, if a step has several, the micro-batch are in the
/// message.
void require_finite_number(double value, const std::string& what, size_t micro_batch, size_t micro_batches);

/// Returns the weighted sums of all micro-batches. `numbers` has the numbers of the micro-batches one after the other.
/// If `checked` is true, throws NotFinite for the first loss or penalty that is not finite.
std::vector<MetricSum> sums_of(const std::vector<MicroBatchNumbers>& micro_batches, std::span<const double> numbers,
                               bool checked);

/// Adds each sum of `more` to the sum of the same name in `sums`.
void add_sums(std::vector<MetricSum>& sums, const std::vector<MetricSum>& more);
/// Returns total / count for each sum whose count is not 0.
Metrics means(const std::vector<MetricSum>& sums);

}  // namespace cachet::train
