#pragma once

#include <cstdint>
#include <memory>

#include "cachet/train/profile/profiler.h"
#include "cachet/train/profile/step_profile.h"
#include "cachet/train/step/live_run.h"

namespace cachet::train {

/// Returns the profile of a run's last steps, which `recording` has recorded. `run` must be settled.
StepProfile profile_of_run(const ProfileRecording& recording, const ProfiledSteps& steps, const LiveRun& run);

/// The profile of some consecutive steps of a run, once after each start of the run (train.profile). The first steps of
/// a process are not profiled, because they prepare memory and operators.
class RunProfile {
 public:
  /// `steps` is the number of steps to profile, or 0. `left` is the number of steps that the run still has.
  RunProfile(int64_t steps, int64_t left);

  /// Call the function once before each step. Returns whether the next step is the first one to profile.
  bool begins();
  /// Starts the recording. Call LiveRun::settle() before. Throws the errors of Profiler.
  void start(const LiveRun& run);
  /// Call the function after each step, with the number of its samples. Returns whether all steps are recorded.
  bool is_complete_after(int64_t samples);

  /// Whether start() was called, and finish() or give_up() was not.
  bool is_recording() const { return profiler_ != nullptr; }
  /// Ends the recording after at least one step. Call LiveRun::settle() before.
  StepProfile finish(const LiveRun& run);
  /// Ends the recording without a result.
  void give_up() { profiler_.reset(); }

 private:
  int64_t skipped_;  // steps before the first profiled step
  int64_t steps_;    // 0 after the start
  ProfiledSteps recorded_{.count = 0};
  int64_t count_ = 0;  // steps to record
  std::unique_ptr<Profiler> profiler_;
};

}  // namespace cachet::train
