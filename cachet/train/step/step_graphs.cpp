#include "cachet/train/step/step_graphs.h"

#include <stdexcept>

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
  if (processes > 1) return "several processes add their gradients on the host";
  if (options.train.has_parts()) return "the parts of a step have states of their own (train.state)";
  if (options.train.normality_passes > 0) return "train.normality_passes tests statistics on the host";
  if (options.schedule.cycles_momentum()) return "the schedule changes the momentum in each step";
  return task.why_not_replayed();
}

StepGraphs step_graphs(TrainingTask& task, const Options& options, c10::Device device, int64_t processes) {
  const GraphUse use = options.train.graph;
  const auto refused = [&](const std::string& reason) -> StepGraphs {
    if (use == GraphUse::on)
      throw std::runtime_error("train.graph = \"on\" is impossible: " + reason + "; set train.graph = \"auto\"");
    if (use == GraphUse::off || !device.is_cuda()) return {};
    return {nullptr, "the steps run without CUDA graphs, because " + reason};
  };
  if (!device.is_cuda()) return refused("the model is not on a CUDA device");
  if (const auto reason = why_not_replayed(task, options, processes)) return refused(*reason);
  std::unique_ptr<StepExecutor> executor = make_cuda_executor(device, use != GraphUse::off);
  if (!executor) return refused("this program was built with a CPU build of LibTorch");
  return {std::move(executor), use == GraphUse::off ? "the steps run without CUDA graphs (train.graph = \"off\")"
                                                    : "the steps are replayed as CUDA graphs"};
}

}  // namespace cachet::train
