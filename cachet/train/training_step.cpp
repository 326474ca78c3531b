#include "cachet/train/training_step.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <cmath>

#include "cachet/train/clock.h"
#include "cachet/train/interruption.h"
#include "cachet/train/numbers.h"
#include "cachet/train/runtime.h"

namespace cachet::train {
namespace {

constexpr const char* kLoss = "loss";
constexpr const char* kPenalty = "penalty";
constexpr const char* kDataEnded = "the training data ended before the epoch did";

void require_finite_number(double value, const std::string& what, size_t micro_batch, size_t micro_batches) {
  if (std::isfinite(value)) return;
  const std::string which = micro_batches == 1 ? ""
                                               : " of micro-batch " + std::to_string(micro_batch + 1) + " of " +
                                                     std::to_string(micro_batches);
  throw NotFinite("the " + what + which + " is " + (std::isnan(value) ? "NaN" : "infinite"));
}

}  // namespace

TrainingStep::TrainingStep(Task& task, const Options& options, std::shared_ptr<processes::Processes> processes,
                           PartStates* parts)
    : task_(task),
      model_(task.model()),
      precision_(options.train.precision),
      clip_norm_(options.train.clip_norm),
      device_(device_of(task.model()).type()),
      processes_(std::move(processes)),
      parts_(parts) {
  ParameterGroups groups = parameter_groups(task.model(), task.without_decay());
  if (options.optimizer.backbone_rate != 1) groups.slow_backbone(options.optimizer.backbone_rate, task.heads());
  group_summary_ = groups.summary();
  parameters_ = groups.decayed;
  parameters_.insert(parameters_.end(), groups.undecayed.begin(), groups.undecayed.end());
  optimizer_ = make_optimizer(options.optimizer, std::move(groups));
}

TrainingStep::Result TrainingStep::run(TrainingStream& stream, int64_t micro_batches, const UpdateRates& rates,
                                       int stop_signal) {
  for (NamedParameter& parameter : parameters_) parameter.tensor.mutable_grad().reset();
  Result result;
  result.stop_signal = stop_signal;
  std::vector<MicroBatch> done;
  double unit = 0, weight = 0;
  begin(stream, micro_batches, result);
  for (int64_t i = 0; i < micro_batches; ++i) {
    if (parts_ != nullptr) parts_->begin(i);
    task_.record_passes(parts_ == nullptr || parts_->number(i) == 0);
    done.push_back(accumulate(stream, unit, result));
    task_.record_passes(false);
    if (parts_ != nullptr) parts_->end(i);
    weight += done.back().weight;
  }
  if (parts_ != nullptr) parts_->end_step(processes_.get());
  if (processes_) {
    read_and_add_up(done, unit, result);
  } else {
    take_means(unit, weight);
    read(done, result);
  }
  if (clip_norm_ > 0) clip_gradients(parameters_, result.gradient_norm, clip_norm_);
  optimizer_->step(rates);
  return result;
}

void TrainingStep::begin(TrainingStream& stream, int64_t micro_batches, Result& result) const {
  const double start = clock_seconds();
  if (!stream.fetch_step(micro_batches)) throw std::runtime_error(kDataEnded);
  result.waited_seconds += clock_seconds() - start;
  stream.count_step([&](std::vector<double>& numbers) { sum_over_all(numbers); });
}

StepResult TrainingStep::forward(TrainingStream& stream) const {
  const PrecisionScope precision(precision_, device_);
  if (parts_ == nullptr || stream.has_samples()) return stream.forward();
  const at::NoGradGuard no_grad;
  model_.eval();
  StepResult step = stream.forward();
  model_.train();
  return step;
}

double TrainingStep::unit_of(double weight) const {
  if (parts_ == nullptr) return sum_of_all(weight);
  const double of_part_0 = sum_of_all(parts_->number(0) == 0 ? weight : 0);
  return of_part_0 > 0 ? of_part_0 : 1;
}

void TrainingStep::take_means(double unit, double weight) const {
  if (weight != unit && weight > 0) scale_gradients(parameters_, unit / weight);
}

TrainingStep::MicroBatch TrainingStep::accumulate(TrainingStream& stream, double& unit, Result& result) {
  const double start = clock_seconds();
  if (!stream.fetch()) throw std::runtime_error(kDataEnded);
  result.waited_seconds += clock_seconds() - start;

  StepResult step = forward(stream);
  if (!(step.weight >= 0) || std::isinf(step.weight)) {
    throw std::logic_error("the task gave a micro-batch the weight " + std::to_string(step.weight));
  }
  if (unit == 0) unit = unit_of(step.weight);
  // A process whose part is empty goes backward, too, if others wait there for its part of what is summed over a batch.
  if (step.weight > 0 || (processes_ && parts_ == nullptr)) {
    const double divisor = unit > 0 ? unit : 1;
    at::Tensor objective = step.loss / divisor;
    if (step.penalty.defined()) objective = objective + step.penalty * (step.weight / divisor);
    objective.backward();
  }
  result.samples += step.samples;
  result.tokens += step.tokens;
  const at::Tensor loss = step.loss.detach();
  return {step.weight > 0 ? loss / step.weight : loss, step.penalty.defined() ? step.penalty.detach() : at::Tensor(),
          step.weight, std::move(step.metrics)};
}

double TrainingStep::sum_of_all(double number) const {
  std::vector<double> one{number};
  sum_over_all(one);
  return one.front();
}

void TrainingStep::sum_over_all(std::vector<double>& numbers) const {
  if (!processes_) return;
  at::Tensor sums = at::tensor(numbers, at::kDouble);
  processes_->add(sums);
  const double* sum = sums.const_data_ptr<double>();
  numbers.assign(sum, sum + sums.numel());
}

std::vector<at::Tensor> TrainingStep::numbers_of(const std::vector<MicroBatch>& micro_batches) {
  std::vector<at::Tensor> tensors;
  for (const MicroBatch& batch : micro_batches) {
    tensors.push_back(batch.loss);
    if (batch.penalty.defined()) tensors.push_back(batch.penalty);
    for (const StepMetric& metric : batch.metrics) tensors.push_back(metric.total);
  }
  return tensors;
}

void TrainingStep::read(const std::vector<MicroBatch>& micro_batches, Result& result) const {
  std::vector<at::Tensor> tensors = numbers_of(micro_batches);
  const auto sums = static_cast<std::ptrdiff_t>(tensors.size());
  tensors.push_back(gradient_norms(parameters_));
  const std::vector<double> numbers = read_numbers(tensors);
  take_sums(micro_batches, numbers, result);
  take_norm({numbers.begin() + sums, numbers.end()}, result);
}

void TrainingStep::read_and_add_up(const std::vector<MicroBatch>& micro_batches, double unit, Result& result) const {
  take_sums(micro_batches, read_numbers(numbers_of(micro_batches)), result);
  std::vector<double> parts{static_cast<double>(result.samples), static_cast<double>(result.tokens)};
  for (const int signal : Interruption::kSignals) parts.push_back(signal == result.stop_signal ? 1 : 0);
  for (const MetricSum& sum : result.sums) {
    parts.push_back(sum.total);
    parts.push_back(sum.count);
  }
  sum_over_all(parts);
  auto next = parts.begin();
  result.samples = static_cast<int64_t>(*next++);
  result.tokens = static_cast<int64_t>(*next++);
  for (const int signal : Interruption::kSignals)
    if (*next++ > 0) result.stop_signal = signal;
  for (MetricSum& sum : result.sums) {
    sum.total = *next++;
    sum.count = *next++;
    if (sum.name == kLoss || sum.name == kPenalty) require_finite_number(sum.total, sum.name, 0, 1);
  }
  const double weight = result.sums.front().count;  // of the losses, which come first
  if (weight == 0) {
    for (const NamedParameter& parameter : parameters_) parameter.tensor.mutable_grad().reset();
    return;
  }
  // Where parts have states of their own, one process would have summed up before it divides.
  if (parts_ == nullptr) take_means(unit, weight);
  add_gradients(parameters_, *processes_);
  if (parts_ != nullptr) take_means(unit, weight);
  take_norm(read_numbers({gradient_norms(parameters_)}), result);
}

void TrainingStep::take_sums(const std::vector<MicroBatch>& micro_batches, const std::vector<double>& numbers,
                             Result& result) const {
  auto next = numbers.begin();
  for (size_t i = 0; i < micro_batches.size(); ++i) {
    const MicroBatch& batch = micro_batches[i];
    const auto take = [&](const char* name) {
      // Of several processes all are to find it, in the sum.
      if (!processes_) require_finite_number(*next, name, i, micro_batches.size());
      add_sums(result.sums, {{name, *next++ * batch.weight, batch.weight}});
    };
    take(kLoss);
    if (batch.penalty.defined()) take(kPenalty);
    for (const StepMetric& metric : batch.metrics) add_sums(result.sums, {{metric.name, *next++, metric.count}});
  }
}

void TrainingStep::take_norm(std::span<const double> norms, Result& result) const {
  result.gradient_norm = norm_of_norms(norms);
  if (std::isfinite(result.gradient_norm)) return;
  const std::optional<std::string> name = first_non_finite_gradient(parameters_);
  throw NotFinite(name ? "the gradient of " + *name + " is not finite" : "the norm of the gradients overflows");
}

int64_t TrainingStep::parameter_bytes() const {
  int64_t bytes = 0;
  for (const NamedParameter& parameter : parameters_) bytes += static_cast<int64_t>(parameter.tensor.nbytes());
  return bytes;
}

void add_sums(std::vector<MetricSum>& sums, const std::vector<MetricSum>& more) {
  for (const MetricSum& sum : more) {
    const auto found = std::ranges::find(sums, sum.name, &MetricSum::name);
    if (found == sums.end()) {
      sums.push_back(sum);
    } else {
      found->total += sum.total;
      found->count += sum.count;
    }
  }
}

Metrics means(const std::vector<MetricSum>& sums) {
  Metrics metrics;
  for (const MetricSum& sum : sums) {
    if (sum.count > 0) metrics.set(sum.name, sum.total / sum.count);
  }
  return metrics;
}

}  // namespace cachet::train
