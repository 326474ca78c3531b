#include "cachet/train/step/step_graphs.h"

#include <stdexcept>

#include "cachet/train/step/recalibration.h"

#ifdef CACHET_HAS_CUDA
#include "cachet/train/step/cuda/cuda_executor.h"
#endif

namespace cachet::train {
namespace {

#ifdef CACHET_HAS_CUDA
constexpr bool kHasCuda = true;
#else
constexpr bool kHasCuda = false;
std::unique_ptr<StepExecutor> make_cuda_executor(c10::Device /*device*/, bool /*replays*/) { return nullptr; }
#endif

}  // namespace

bool is_built_with_cuda() { return kHasCuda; }

std::optional<std::string> why_not_replayed(TrainingTask& task, const Options& options, int64_t processes) {
  if (options.train.has_parts()) return "the parts of a step have states of their own (train.state)";
  if (options.train.normality_passes > 0) return "train.normality_passes tests statistics on the host";
  if (processes > 1 && has_states(task.model()))
    return "caches, or norms with batch statistics, sum over all processes during a pass";
  if (processes == 1 && options.schedule.cycles_momentum()) return "the schedule changes the momentum in each step";
  return task.why_not_replayed();
}

std::string replays_text(GraphUse use, int64_t processes, const std::optional<std::string>& why_not_inference) {
  if (use == GraphUse::off) return "the steps run without CUDA graphs (train.graph = \"off\")";
  std::string text = processes == 1 ? "the steps" : "the forward and backward passes of the steps";
  text += why_not_inference ? " are replayed as CUDA graphs" : " and the evaluations are replayed as CUDA graphs";
  if (processes > 1) text += "; the sums over processes and the optimizer are not";
  if (why_not_inference) text += "; the evaluations run without graphs, because " + *why_not_inference;
  return text;
}

GraphPlan graph_plan(TrainingTask& task, const Options& options, c10::Device device, int64_t processes) {
  const GraphUse use = options.train.graph;
  const auto refused = [&](const std::string& reason) -> GraphPlan {
    if (use == GraphUse::on)
      throw std::runtime_error("train.graph = \"on\" is impossible: " + reason + "; set train.graph = \"auto\"");
    if (use == GraphUse::off || !device.is_cuda()) return {};
    return {false, "the steps run without CUDA graphs, because " + reason};
  };
  if (!device.is_cuda()) return refused("the model is not on a CUDA device");
  if (const auto reason = why_not_replayed(task, options, processes)) return refused(*reason);
  if (!kHasCuda) return refused("this program was built with a CPU build of LibTorch");
  return {true, replays_text(use, processes, task.why_inference_not_replayed())};
}

std::string replay_predictions(TrainingTask& task, GraphUse use, c10::Device device) {
  if (!device.is_cuda() || !kHasCuda || use == GraphUse::off) return {};
  if (const auto reason = task.why_inference_not_replayed())
    return "the model runs without CUDA graphs, because " + *reason;
  task.replay_inference(make_cuda_executor(device, /*replays=*/true));
  return {};
}

std::unique_ptr<StepExecutor> make_executor(const GraphPlan& plan, const Options& options, c10::Device device) {
  return plan.has_executor ? make_cuda_executor(device, options.train.graph != GraphUse::off) : nullptr;
}

}  // namespace cachet::train
