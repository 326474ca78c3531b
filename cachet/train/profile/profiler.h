#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "cachet/io/files/file_system.h"
#include "cachet/train/profile/work_times.h"

namespace cachet::train {

/// What LibTorch's profiler recorded between the start and the end of a Profiler.
struct ProfileRecording {
  ActivityKind kind = ActivityKind::operators;
  int64_t begin = 0, end = 0;          // nanoseconds of the profiler's clock
  std::vector<Activity> activities{};  // calls of operators on a CPU, kernels and copies on a CUDA device
  int64_t graph_launches = 0;          // launches of CUDA graphs
  int64_t host_bytes = 0;              // largest growth of the CPU's tensors since the start, in bytes

  /// Writes the recording as a Chrome trace (JSON, for chrome://tracing and Perfetto) with an atomic replacement of
  /// `path`. LibTorch writes a recording only once. Throws io::Error.
  void write_trace(const std::filesystem::path& path, io::FileSystem& file_system = io::FileSystem::real()) const;

  struct Trace;
  std::shared_ptr<Trace> trace{};
};

/// Records the work of this thread and of the threads that it starts for a backward pass, with LibTorch's profiler
/// (Kineto). Does not change results.
class Profiler {
 public:
  /// Waits for the device, and starts. Throws std::runtime_error if another profiler records this thread.
  explicit Profiler(c10::Device device);
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;
  ~Profiler();  // drops the recording unless stop() returned it

  /// Waits for the device, stops, and returns the recording. Call stop() once.
  ProfileRecording stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Switches off the messages of LibTorch's profiler on standard error, unless the environment variable
/// KINETO_LOG_LEVEL is set. Call the function before the first Profiler, and before threads read the environment.
void silence_profiler();

}  // namespace cachet::train
