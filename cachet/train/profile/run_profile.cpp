#include "cachet/train/profile/run_profile.h"

#include <algorithm>
#include <utility>

#include "cachet/train/machine/device.h"

namespace cachet::train {
namespace {

constexpr int64_t kMaxSkipped = 20;

}  // namespace

StepProfile profile_of_run(const ProfileRecording& recording, const ProfiledSteps& steps, const LiveRun& run) {
  const MemoryUse fixed = run.memory_use();
  const std::optional<int64_t> peak = device_peak_bytes(run.device());
  return step_profile(
      recording, steps,
      peak ? with_peak(fixed, *peak) : with_growth(fixed, recording.host_bytes, run.allocates_gradients()));
}

RunProfile::RunProfile(int64_t steps, int64_t left)
    : skipped_(std::clamp<int64_t>(left - steps, left > 1 ? 1 : 0, kMaxSkipped)), steps_(steps) {
  if (steps > 0) silence_profiler();
}

bool RunProfile::begins() {
  if (steps_ == 0) return false;
  if (skipped_ == 0) return true;
  --skipped_;
  return false;
}

void RunProfile::start(const LiveRun& run) {
  count_ = std::exchange(steps_, 0);
  recorded_ = {.device = run.device(), .first = run.state.step + 1, .count = 0};
  profiler_ = std::make_unique<Profiler>(run.device());
}

bool RunProfile::is_complete_after(int64_t samples) {
  if (!profiler_) return false;
  recorded_.count += 1;
  recorded_.samples += samples;
  return recorded_.count == count_;
}

StepProfile RunProfile::finish(const LiveRun& run) {
  const std::unique_ptr<Profiler> profiler = std::move(profiler_);
  return profile_of_run(profiler->stop(), recorded_, run);
}

}  // namespace cachet::train
