#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cachet/io/files/file_system.h"
#include "cachet/train/profile/memory_use.h"
#include "cachet/train/profile/profiler.h"
#include "cachet/train/profile/work_times.h"

namespace cachet::train {

/// The profile of some steps. All times and counts are means of one step.
struct StepProfile {
  std::string device;                                // "cpu", "cuda:0"
  ActivityKind kind = ActivityKind::operators;       // kind of the recorded activities
  int64_t first_step = 0;                            // first profiled step of a run, from 1; 0 if there is no run
  int64_t steps = 0;                                 // number of profiled steps
  double samples = 0;                                // samples in a step
  double seconds = 0;                                // duration of a step while it was profiled
  std::optional<double> seconds_without_profiler{};  // median duration of other steps
  double busy_seconds = 0;  // time of a step in which the device was busy or, on a CPU, an operator ran
  double graph_launches = 0;
  std::vector<WorkTime> families{};  // longest first; their seconds sum to busy_seconds
  std::vector<WorkTime> names{};     // the kShownNames longest names of operators or kernels
  MemoryUse memory{};

  double busy_fraction() const { return seconds > 0 ? busy_seconds / seconds : 0; }
};

/// The number of names in a profile.
inline constexpr size_t kShownNames = 20;

/// Facts about the steps of a recording.
struct ProfiledSteps {
  c10::Device device = c10::kCPU;
  int64_t first = 0;  // first step of a run, from 1, or 0
  int64_t count = 1;
  int64_t samples = 0;  // of all steps together
};
StepProfile step_profile(const ProfileRecording& recording, const ProfiledSteps& steps, const MemoryUse& memory);

/// Returns the reason why a profile has no number for the device's busy time, or std::nullopt if it has one.
std::optional<std::string> why_busy_is_unknown(const StepProfile& profile);

/// Returns the profile as a JSON object on one line, without a schema number.
std::string to_json(const StepProfile& profile);

/// Writes the profile of a run. Throws io::Error.
void write_profile(const std::filesystem::path& file, const StepProfile& profile,
                   io::FileSystem& file_system = io::FileSystem::real());

/// Reads the profile of a run. Returns std::nullopt if the file is missing or damaged.
std::optional<StepProfile> read_profile(const std::filesystem::path& file);

}  // namespace cachet::train
