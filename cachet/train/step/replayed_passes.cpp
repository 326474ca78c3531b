#include "cachet/train/step/replayed_passes.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/zeros.h>

#include <stdexcept>
#include <utility>

#include "cachet/train/machine/device.h"
#include "cachet/train/machine/process_setup.h"
#include "cachet/train/step/step_summary.h"

namespace cachet::train {
namespace {

/// More combinations of input shapes than this run directly, as most of them would meet no recording.
constexpr size_t kMaxLayouts = 64;

at::Tensor as_numbers(const at::Tensor& tensor) { return tensor.detach().to(at::kDouble).reshape({-1}); }

}  // namespace

ReplayedPasses::ReplayedPasses(TrainingTask& task, Precision precision, int64_t further,
                               std::shared_ptr<StepExecutor> executor)
    : task_(task), precision_(precision), replayed_(task.model(), std::move(executor), FixedTensors(kMaxLayouts)) {
  const at::TensorOptions options_of_numbers = at::TensorOptions(device_of(task.model())).dtype(at::kDouble);
  scalars_ = at::zeros({kFurther + further}, options_of_numbers);
}

PassResult ReplayedPasses::run(TrainingBatches& batches, const PreparedBatch& prepared, const PassNumbers& numbers,
                               const PassWork& work) {
  write(prepared.weight, numbers);
  task_.record_passes(true);
  PassResult result = replayed_.run(work.key + (numbers.goes_backward ? "" : "empty;"), prepared.tensors,
                                    [&] { return launch(batches, prepared, numbers.goes_backward, work); });
  task_.record_passes(false);
  result.micro_batch.weight = prepared.weight;
  result.micro_batch.metric_counts = prepared.metric_counts;
  return result;
}

void ReplayedPasses::write(double weight, const PassNumbers& numbers) {
  std::vector<double> scalars(kFurther);
  const double unit = numbers.unit > 0 ? numbers.unit : 1;
  scalars[kUnit] = unit;
  scalars[kWeight] = weight > 0 ? weight : 1;
  scalars[kPenaltyFactor] = weight / unit;
  scalars.insert(scalars.end(), numbers.further.begin(), numbers.further.end());
  replayed_.executor().write(scalars, scalars_);
}

PassResult ReplayedPasses::launch(TrainingBatches& batches, const PreparedBatch& prepared, bool goes_backward,
                                  const PassWork& work) const {
  work.before();
  ForwardResult result = [&] {
    const PrecisionScope precision(precision_, scalars_.device().type());
    return batches.forward();
  }();
  if (result.metrics.size() != prepared.metric_counts.size())
    throw std::logic_error("the task describes " + std::to_string(prepared.metric_counts.size()) +
                           " metrics of a micro-batch, but has " + std::to_string(result.metrics.size()));
  if (goes_backward) {
    at::Tensor objective = result.loss / scalar(kUnit, result.loss.scalar_type());
    if (result.penalty.defined())
      objective = objective + result.penalty * scalar(kPenaltyFactor, result.penalty.scalar_type());
    objective.backward();
  }
  const at::NoGradGuard no_grad;
  MicroBatchNumbers described{prepared.weight, result.penalty.defined(), {}, {}};
  const at::Tensor loss = result.loss.detach();
  std::vector<at::Tensor> numbers{as_numbers(loss / scalar(kWeight, loss.scalar_type()))};
  if (result.penalty.defined()) numbers.push_back(as_numbers(result.penalty));
  const size_t losses = numbers.size();
  for (const StepMetric& metric : result.metrics) {
    described.metrics.push_back(metric.name);
    numbers.push_back(as_numbers(metric.total));
  }
  work.after(numbers, losses);
  return {std::move(described), at::cat(numbers)};
}

PreparedBatch described_batch(TrainingBatches& batches) {
  std::optional<PreparedBatch> prepared = batches.prepared();
  if (!prepared) throw std::logic_error("the task does not describe its prepared micro-batch");
  require_weight(prepared->weight);
  return *std::move(prepared);
}

}  // namespace cachet::train
