#include "cachet/analysis/cost/live_memory.h"

#include <c10/core/Allocator.h>

#include <atomic>

namespace cachet::analysis {

struct LiveMemory::Counter : c10::MemoryReportingInfoBase {
  using c10::MemoryReportingInfoBase::reportMemoryUsage;
  void reportMemoryUsage(void*, int64_t bytes, size_t, size_t, c10::Device) override {
    const int64_t now = live.fetch_add(bytes) + bytes;
    int64_t before = peak.load();
    while (now > before && !peak.compare_exchange_weak(before, now)) {
    }
  }
  bool memoryProfilingEnabled() const override { return true; }

  std::atomic<int64_t> live{0}, peak{0};
};

LiveMemory::LiveMemory()
    : counter_(std::make_shared<Counter>()), guard_(c10::DebugInfoKind::PROFILER_STATE, counter_) {}
int64_t LiveMemory::live_bytes() const { return counter_->live; }
int64_t LiveMemory::peak_bytes() const { return counter_->peak; }
void LiveMemory::restart_peak() { counter_->peak = counter_->live.load(); }

}  // namespace cachet::analysis
