#pragma once

#include <c10/core/Device.h>

#include <memory>
#include <optional>
#include <string>

#include "cachet/train/options.h"
#include "cachet/train/step/step_executor.h"
#include "cachet/train/training_task.h"

namespace cachet::train {

/// Returns the reason why the steps of a run cannot be DeviceSteps, or std::nullopt if they can. `processes` is the
/// number of processes of the run.
std::optional<std::string> why_not_replayed(TrainingTask& task, const Options& options, int64_t processes);

/// Whether this program was built with a CUDA build of LibTorch, so that it can replay steps as CUDA graphs.
bool is_built_with_cuda();

/// The executor of a run's steps, and a line about the steps for the log and `--dry-run`.
struct StepGraphs {
  std::unique_ptr<StepExecutor> executor;  // null: the steps are TrainingSteps
  std::string note;                        // empty on the CPU
};

/// Chooses the executor by train.graph: a CUDA device replays the steps if they can be replayed, unless train.graph is
/// "off". Throws std::runtime_error, which names the reason, if train.graph is "on" and the steps cannot be replayed.
StepGraphs step_graphs(TrainingTask& task, const Options& options, c10::Device device, int64_t processes);

}  // namespace cachet::train
