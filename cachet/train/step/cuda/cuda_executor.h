#pragma once

#include <c10/core/Device.h>

#include <memory>

#include "cachet/train/step/step_executor.h"

namespace cachet::train {

/// Returns an executor for a CUDA device. While the executor exists, the calling thread's work runs on one stream of
/// its own. If `replays` is true, the second run of each key is captured in a CUDA graph, which replays all later runs.
/// If a capture fails, or if there are already 64 graphs, the work of that key always runs directly, and take_notes()
/// returns the reason. Only CUDA builds define this function.
std::unique_ptr<StepExecutor> make_cuda_executor(c10::Device device, bool replays);

}  // namespace cachet::train
