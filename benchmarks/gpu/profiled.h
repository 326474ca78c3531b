#pragma once

#include <torch/csrc/autograd/profiler_kineto.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace cachet::benchmarks {

/// The work of a GPU while a function ran, from LibTorch's profiler. On a machine without a GPU, all numbers are 0.
struct GpuWork {
  int64_t graph_launches = 0;
  int64_t kernel_launches = 0;  // by the host, one by one
  double busy_ms = 0;           // time in which at least one kernel or copy ran
  double span_ms = 0;           // from the beginning of the first kernel or copy to the end of the last one
};

inline bool is_kernel_launch(const std::string& name) {
  return name.starts_with("cudaLaunchKernel") || name.starts_with("cuLaunchKernel");
}

/// The length of the union of intervals, in nanoseconds.
inline uint64_t covered(std::vector<std::pair<uint64_t, uint64_t>> intervals) {
  std::sort(intervals.begin(), intervals.end());
  uint64_t sum = 0, end = 0;
  for (const auto& [first, last] : intervals) {
    if (last <= end) continue;
    sum += last - std::max(first, end);
    end = last;
  }
  return sum;
}

/// Calls `work`, which must wait for the GPU before it returns, under the profiler.
inline GpuWork profiled(const std::function<void()>& work) {
  namespace profiler = torch::autograd::profiler;
  using torch::profiler::impl::ActivityType;
  const torch::profiler::impl::ProfilerConfig config(torch::profiler::impl::ProfilerState::KINETO);
  const std::set<ActivityType> activities{ActivityType::CPU, ActivityType::CUDA};
  profiler::prepareProfiler(config, activities);
  profiler::enableProfiler(config, activities);
  work();
  const auto result = profiler::disableProfiler();
  GpuWork found;
  std::vector<std::pair<uint64_t, uint64_t>> intervals;
  for (const auto& event : result->events()) {
    const std::string name = event.name();
    if (name == "cudaGraphLaunch") ++found.graph_launches;
    if (is_kernel_launch(name)) ++found.kernel_launches;
    if (event.deviceType() == c10::kCUDA) intervals.emplace_back(event.startNs(), event.endNs());
  }
  if (intervals.empty()) return found;
  found.busy_ms = 1e-6 * static_cast<double>(covered(intervals));
  uint64_t begin = intervals.front().first, end = 0;
  for (const auto& [first, last] : intervals) {
    begin = std::min(begin, first);
    end = std::max(end, last);
  }
  found.span_ms = 1e-6 * static_cast<double>(end - begin);
  return found;
}

}  // namespace cachet::benchmarks
