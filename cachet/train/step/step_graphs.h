#pragma once

#include <c10/core/Device.h>

#include <memory>
#include <optional>
#include <string>

#include "cachet/train/options.h"
#include "cachet/train/step/step_executor.h"
#include "cachet/train/training_task.h"

namespace cachet::train {

/// Returns the reason why the steps of a run cannot be replayed, or std::nullopt if they can. `processes` is the number
/// of processes of the run. With several processes, only the forward and backward passes are replayed.
std::optional<std::string> why_not_replayed(TrainingTask& task, const Options& options, int64_t processes);

/// Whether this program was built with a CUDA build of LibTorch, so that it can replay steps as CUDA graphs.
bool is_built_with_cuda();

/// Returns the line about the steps of a run whose steps can be replayed. `why_not_inference` is the reason why the
/// evaluations cannot be replayed.
std::string replays_text(GraphUse use, int64_t processes, const std::optional<std::string>& why_not_inference);

/// How the steps of a run are launched.
struct GraphPlan {
  bool has_executor = false;  // whether a StepExecutor runs the steps or, with several processes, their passes
  std::string note{};         // a line for the log and `--dry-run`; empty on the CPU
};

/// Plans the steps by train.graph: a CUDA device replays the steps if they can be replayed, unless train.graph is
/// "off". Throws std::runtime_error, which names the reason, if train.graph is "on" and the steps cannot be replayed.
GraphPlan graph_plan(TrainingTask& task, const Options& options, c10::Device device, int64_t processes);

/// Lets a trained task replay the passes of evaluations and predictions if its model is on a CUDA device, unless `use`
/// is off. Returns a line with the reason if the passes cannot be replayed on this device; otherwise an empty text.
std::string replay_predictions(TrainingTask& task, GraphUse use, c10::Device device);

/// Returns the executor of a plan, or null.
std::unique_ptr<StepExecutor> make_executor(const GraphPlan& plan, const Options& options, c10::Device device);

}  // namespace cachet::train
