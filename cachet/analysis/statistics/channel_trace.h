#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace cachet::analysis {

/// The values of a statistic of one channel over the steps, and the means of these values over the window that ends at
/// each step. The windows of the first steps are shorter, because there are fewer steps before them.
struct ChannelTrace {
  std::vector<double> statistic;
  std::vector<double> arithmetic, geometric;  // geometric: NaN if the window has a value of 0 or below
};

/// Returns the statistic of a channel at each step, and its means over windows. `statistics` has a tensor (C) for each
/// step. Throws std::invalid_argument if window is below 1, and c10::Error for a channel that does not exist.
ChannelTrace channel_trace(const std::vector<at::Tensor>& statistics, int64_t channel, int64_t window);

/// Returns the channels in ascending order of their fluctuation over the steps (standard deviation ÷ root mean square).
/// `statistics` has a tensor (C) for each step. Throws std::invalid_argument if there are no steps.
std::vector<int64_t> channels_by_fluctuation(const std::vector<at::Tensor>& statistics);

}  // namespace cachet::analysis
