#include "cachet/tasks/gpu_batch.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "cachet/tasks/memory_estimate.h"
#include "cachet/train/machine/memory_limit.h"

namespace cachet::tasks {
namespace {

constexpr double kFraction = 0.9;  // of the memory, for a batch that is chosen

/// The tensors of a step. Batches ahead and checkpoints are in the memory of the host.
int64_t bytes_on_gpu(const MemoryEstimate& estimate) {
  return estimate.parameters + estimate.gradients + estimate.optimizer + estimate.states + estimate.activations;
}

std::optional<StepMemoryCurve> measured_on_cpu(const RecipePlan& plan) {
  RecipePlan on_cpu = plan;
  on_cpu.training.train.device = {train::DeviceChoice::Kind::cpu};
  on_cpu.training.train.graph = train::GraphUse::off;
  const int64_t free = train::available_bytes().value_or(std::numeric_limits<int64_t>::max());
  return StepMemoryCurve::measure(on_cpu, free, MemoryTrial::precise);
}

}  // namespace

int64_t samples_that_fit(int64_t samples, int64_t usable, const GpuBytes& bytes) {
  const auto of_all = static_cast<double>(std::max<int64_t>(1, bytes(samples)));
  const double memory = usable > 0 ? static_cast<double>(usable) : of_all;
  const double scale = std::max(1.0, memory / of_all);
  int64_t fits = 0, too_many = samples;
  while (too_many - fits > 1) {
    const int64_t middle = fits + (too_many - fits) / 2;
    (scale * static_cast<double>(bytes(middle)) <= kFraction * memory ? fits : too_many) = middle;
  }
  return fits;
}

std::optional<std::string> smaller_batch_text(const RecipePlan& plan, const train::GpuMemoryError& error,
                                              int64_t processes, bool resumes) {
  const auto curve = measured_on_cpu(plan);
  if (!curve) return std::nullopt;
  const TaskPlan::BatchCount count = plan.task->batch_count(plan.training.train);
  const int64_t samples = (count.samples + processes - 1) / processes;
  const int64_t fits =
      samples_that_fit(samples, error.usable, [&](int64_t some) { return bytes_on_gpu(curve->at(some)); });
  const auto choice = batches_that_fit(plan, fits * processes);
  if (!choice) return "no smaller batch is expected to fit; make the model or its samples smaller";
  std::string settings;
  for (const std::string& setting : batch_settings(plan, *choice, /*keeps_states=*/has_batch_state(plan))) {
    const bool is_text = setting.find('"') != std::string::npos;
    settings += " --set " + (is_text ? "'" + setting + "'" : setting);
  }
  return std::string(resumes ? "a resumed run keeps its batch size; a new run with the same samples in each step is "
                               "expected to fit with"
                             : "with the same samples in each step, this is expected to fit:") +
         settings;
}

}  // namespace cachet::tasks
