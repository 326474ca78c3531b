#include "cachet/analysis/statistics/channel_trace.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/stack.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace cachet::analysis {

ChannelTrace channel_trace(const std::vector<at::Tensor>& statistics, int64_t channel, int64_t window) {
  if (window < 1) throw std::invalid_argument("channel_trace: the window must have at least one step");
  ChannelTrace trace;
  for (const at::Tensor& step : statistics) {
    trace.statistic.push_back(step[channel].item<double>());
    const auto count = std::min(trace.statistic.size(), static_cast<size_t>(window));
    double sum = 0, logs = 0;
    for (auto value = trace.statistic.end() - static_cast<std::ptrdiff_t>(count); value != trace.statistic.end();
         ++value) {
      sum += *value;
      logs += *value > 0 ? std::log(*value) : std::numeric_limits<double>::quiet_NaN();
    }
    trace.arithmetic.push_back(sum / static_cast<double>(count));
    trace.geometric.push_back(std::exp(logs / static_cast<double>(count)));
  }
  return trace;
}

std::vector<int64_t> channels_by_fluctuation(const std::vector<at::Tensor>& statistics) {
  if (statistics.empty()) throw std::invalid_argument("channels_by_fluctuation: no steps");
  const at::NoGradGuard no_grad;
  const at::Tensor all = at::stack(statistics).to(at::kCPU, at::kDouble);
  const at::Tensor away = (all - all.mean(0)).square().mean(0), size = all.square().mean(0);
  const at::Tensor order =
      (away / size.clamp_min(std::numeric_limits<double>::min())).argsort(/*stable=*/true, /*dim=*/0);
  std::vector<int64_t> channels;
  for (int64_t i = 0; i < order.size(0); ++i) channels.push_back(order[i].item<int64_t>());
  return channels;
}

}  // namespace cachet::analysis
