#include "cachet/train/step/training_step.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "cachet/train/machine/interruption.h"
#include "cachet/train/machine/process_setup.h"
#include "cachet/train/step/host_copy.h"

namespace cachet::train {
TrainingStep::TrainingStep(TrainingTask& task, const Options& options,
                           std::shared_ptr<processes::ProcessGroup> processes, PartStates* parts)
    : task_(task),
      model_(task.model()),
      precision_(options.train.precision),
      clip_norm_(options.train.clip_norm),
      device_(device_of(task.model()).type()),
      processes_(std::move(processes)),
      parts_(parts) {
  ParameterGroups groups = parameter_groups(task.model(), task.without_decay());
  if (options.optimizer.backbone_rate != 1) groups.slow_backbone(options.optimizer.backbone_rate, task.head_modules());
  group_summary_ = groups.summary();
  parameters_ = groups.decayed;
  parameters_.insert(parameters_.end(), groups.undecayed.begin(), groups.undecayed.end());
  optimizer_ = make_optimizer(options.optimizer, std::move(groups));
}

StepSummary TrainingStep::run(TrainingBatches& batches, int64_t micro_batches, const UpdateRates& rates,
                              int stop_signal) {
  StepSummary summary;
  summary.stop_signal = stop_signal;
  zero_gradients();
  const Accumulated step = accumulate(batches, micro_batches, summary);
  all_reduce_gradients(step);
  read_and_check(step, summary);
  if (clip_norm_ > 0) clip_gradients(parameters_, summary.gradient_norm, clip_norm_);
  optimizer_->step(rates);
  return summary;
}

void TrainingStep::replay_passes(std::shared_ptr<StepExecutor> executor) {
  if (parts_ != nullptr) throw std::logic_error("passes with states of their own cannot be replayed");
  passes_ = std::make_unique<ReplayedPasses>(task_, precision_, /*further=*/0, std::move(executor));
  fixed_gradients_ = std::make_unique<FixedGradients>(parameters_);
}

void TrainingStep::forget_passes() {
  if (passes_) passes_->forget();
}

std::vector<std::string> TrainingStep::take_notes() {
  return passes_ ? passes_->executor().take_notes() : std::vector<std::string>();
}

// Zero gradients.

void TrainingStep::zero_gradients() const {
  if (fixed_gradients_)
    fixed_gradients_->zero();
  else
    train::zero_gradients(parameters_);
}

// Accumulate.

TrainingStep::Accumulated TrainingStep::accumulate(TrainingBatches& batches, int64_t micro_batches,
                                                   StepSummary& summary) const {
  fetch_step(batches, micro_batches, summary);
  Accumulated step;
  for (int64_t i = 0; i < micro_batches; ++i) {
    if (passes_) {
      replay_one(batches, step, summary);
      continue;
    }
    if (parts_ != nullptr) parts_->begin(i);
    task_.record_passes(parts_ == nullptr || parts_->number(i) == 0);
    accumulate_one(batches, step, summary);
    task_.record_passes(false);
    if (parts_ != nullptr) parts_->end(i);
  }
  if (parts_ != nullptr) parts_->end_step(processes_.get());
  return step;
}

void TrainingStep::fetch_step(TrainingBatches& batches, int64_t micro_batches, StepSummary& summary) const {
  wait_for_step(batches, micro_batches, summary);
  batches.count_step([&](std::vector<double>& numbers) { sum_over_processes(numbers); });
}

void TrainingStep::accumulate_one(TrainingBatches& batches, Accumulated& step, StepSummary& summary) const {
  wait_for_micro_batch(batches, summary);
  batches.prepare();

  ForwardResult result = forward(batches);
  require_weight(result.weight);
  if (step.unit == 0) step.unit = unit_of(result.weight);
  // A process with an empty micro-batch goes backward, too, if layers sum their gradients over all processes.
  if (result.weight > 0 || (processes_ && parts_ == nullptr)) {
    const double divisor = step.unit > 0 ? step.unit : 1;
    at::Tensor objective = result.loss / divisor;
    if (result.penalty.defined()) objective = objective + result.penalty * (result.weight / divisor);
    objective.backward();
  }
  summary.samples += result.samples;
  summary.tokens += result.tokens;
  step.weight += result.weight;
  const at::Tensor loss = result.loss.detach();
  MicroBatchNumbers described{result.weight, result.penalty.defined(), {}, {}};
  step.numbers.push_back(result.weight > 0 ? loss / result.weight : loss);
  if (result.penalty.defined()) step.numbers.push_back(result.penalty.detach());
  for (StepMetric& metric : result.metrics) {
    described.metrics.push_back(std::move(metric.name));
    described.metric_counts.push_back(metric.count);
    step.numbers.push_back(std::move(metric.total));
  }
  step.micro_batches.push_back(std::move(described));
}

void TrainingStep::replay_one(TrainingBatches& batches, Accumulated& step, StepSummary& summary) const {
  wait_for_micro_batch(batches, summary);
  batches.prepare();
  const PreparedBatch prepared = described_batch(batches);
  if (step.unit == 0) step.unit = unit_of(prepared.weight);
  summary.samples += prepared.samples;
  summary.tokens += prepared.tokens;
  step.weight += prepared.weight;
  PassResult result = passes_->run(batches, prepared, {step.unit, prepared.weight > 0 || processes_});
  step.numbers.push_back(result.numbers.clone());  // the next micro-batch may overwrite them
  step.micro_batches.push_back(std::move(result.micro_batch));
}

ForwardResult TrainingStep::forward(TrainingBatches& batches) const {
  const PrecisionScope precision(precision_, device_);
  if (parts_ == nullptr || batches.has_samples()) return batches.forward();
  const at::NoGradGuard no_grad;
  model_.eval();
  ForwardResult result = batches.forward();
  model_.train();
  return result;
}

double TrainingStep::unit_of(double weight) const {
  if (parts_ == nullptr) return sum_over_processes(weight);
  const double of_part_0 = sum_over_processes(parts_->number(0) == 0 ? weight : 0);
  return of_part_0 > 0 ? of_part_0 : 1;
}

// All-reduce.

void TrainingStep::all_reduce_gradients(const Accumulated& step) const {
  // The unit of one micro-batch is already the sum of its weight over all processes.
  const bool unit_is_weight = parts_ == nullptr && step.micro_batches.size() == 1;
  const double weight = unit_is_weight ? step.unit : sum_over_processes(step.weight);
  if (weight == 0) return train::zero_gradients(parameters_);
  const auto take_means = [&] {
    if (weight != step.unit) scale_gradients(parameters_, step.unit / weight);
  };
  // One process that has all parts adds up their gradients before it divides. Several processes do the same, to the
  // bit.
  if (parts_ == nullptr) take_means();
  if (processes_) add_gradients(parameters_, *processes_);
  if (fixed_gradients_ && fixed_gradients_->fix()) passes_->forget();
  if (parts_ != nullptr) take_means();
}

double TrainingStep::sum_over_processes(double number) const {
  std::vector<double> one{number};
  sum_over_processes(one);
  return one.front();
}

void TrainingStep::sum_over_processes(std::vector<double>& numbers) const {
  if (!processes_) return;
  at::Tensor sums = at::tensor(numbers, at::kDouble);
  processes_->all_reduce(sums);
  const double* sum = sums.const_data_ptr<double>();
  numbers.assign(sum, sum + sums.numel());
}

// Check.

void TrainingStep::read_and_check(const Accumulated& step, StepSummary& summary) const {
  std::vector<at::Tensor> tensors = step.numbers;
  size_t losses_and_metrics = 0;
  for (const MicroBatchNumbers& micro_batch : step.micro_batches) losses_and_metrics += micro_batch.size();
  tensors.push_back(gradient_norms(parameters_));
  const std::vector<double> numbers = copy_to_host(tensors);
  // Several processes check the sums, so that all of them throw.
  summary.sums = sums_of(step.micro_batches, std::span(numbers).first(losses_and_metrics), /*checked=*/!processes_);
  if (processes_) all_reduce_sums(summary);
  take_norm(std::span(numbers).subspan(losses_and_metrics), summary);
}

void TrainingStep::all_reduce_sums(StepSummary& summary) const {
  std::vector<double> numbers{static_cast<double>(summary.samples), static_cast<double>(summary.tokens)};
  for (const int signal : Interruption::kSignals) numbers.push_back(signal == summary.stop_signal ? 1 : 0);
  for (const MetricSum& sum : summary.sums) {
    numbers.push_back(sum.total);
    numbers.push_back(sum.count);
  }
  sum_over_processes(numbers);
  auto next = numbers.begin();
  summary.samples = static_cast<int64_t>(*next++);
  summary.tokens = static_cast<int64_t>(*next++);
  for (const int signal : Interruption::kSignals)
    if (*next++ > 0) summary.stop_signal = signal;
  for (MetricSum& sum : summary.sums) {
    sum.total = *next++;
    sum.count = *next++;
    if (sum.name == kLoss || sum.name == kPenalty) require_finite_number(sum.total, sum.name, 0, 1);
  }
}

void TrainingStep::take_norm(std::span<const double> norms, StepSummary& summary) const {
  summary.gradient_norm = norm_of_norms(norms);
  if (std::isfinite(summary.gradient_norm)) return;
  const std::optional<std::string> name = first_non_finite_gradient(parameters_);
  throw NotFinite(name ? "the gradient of " + *name + " is not finite" : "the norm of the gradients overflows");
}

int64_t TrainingStep::parameter_bytes() const {
  int64_t bytes = 0;
  for (const NamedParameter& parameter : parameters_) bytes += static_cast<int64_t>(parameter.tensor.nbytes());
  return bytes;
}

}  // namespace cachet::train
