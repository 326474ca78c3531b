#include "cachet/train/training_step.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "cachet/train/numbers.h"
#include "cachet/train/runtime.h"

namespace cachet::train {
namespace {

using StepClock = std::chrono::steady_clock;

double seconds_since(StepClock::time_point start) {
  return std::chrono::duration<double>(StepClock::now() - start).count();
}

void require_finite_number(double value, const char* what, size_t micro_batch, size_t micro_batches) {
  if (std::isfinite(value)) return;
  const std::string which = micro_batches == 1 ? ""
                                               : " of micro-batch " + std::to_string(micro_batch + 1) + " of " +
                                                     std::to_string(micro_batches);
  throw NotFinite("the " + std::string(what) + which + " is " + (std::isnan(value) ? "NaN" : "infinite"));
}

}  // namespace

TrainingStep::TrainingStep(Task& task, const Options& options)
    : precision_(options.train.precision),
      clip_norm_(options.train.clip_norm),
      device_(device_of(task.model()).type()) {
  ParameterGroups groups = parameter_groups(task.model(), task.without_decay());
  if (options.optimizer.backbone_rate != 1) groups.slow_backbone(options.optimizer.backbone_rate, task.heads());
  group_summary_ = groups.summary();
  parameters_ = groups.decayed;
  parameters_.insert(parameters_.end(), groups.undecayed.begin(), groups.undecayed.end());
  optimizer_ = make_optimizer(options.optimizer, std::move(groups));
}

TrainingStep::Result TrainingStep::run(TrainingStream& stream, int64_t micro_batches, double learning_rate) {
  for (NamedParameter& parameter : parameters_) parameter.tensor.mutable_grad().reset();
  Result result;
  std::vector<MicroBatch> done;
  double unit = 0, weight = 0;
  for (int64_t i = 0; i < micro_batches; ++i) {
    done.push_back(accumulate(stream, unit, result));
    weight += done.back().weight;
  }
  if (weight != unit) scale_gradients(parameters_, unit / weight);
  read(done, result);
  if (clip_norm_ > 0) clip_gradients(parameters_, result.gradient_norm, clip_norm_);
  optimizer_->step(learning_rate);
  return result;
}

TrainingStep::MicroBatch TrainingStep::accumulate(TrainingStream& stream, double& unit, Result& result) {
  const StepClock::time_point start = StepClock::now();
  if (!stream.fetch()) throw std::runtime_error("the training data ended before the epoch did");
  result.waited_seconds += seconds_since(start);

  StepResult step;
  {
    const PrecisionScope precision(precision_, device_);
    step = stream.forward();
  }
  if (!(step.weight >= 0) || std::isinf(step.weight)) {
    throw std::logic_error("the task gave a micro-batch the weight " + std::to_string(step.weight));
  }
  if (unit == 0) unit = step.weight;
  if (step.weight > 0) {
    at::Tensor objective = step.loss / unit;
    if (step.penalty.defined()) objective = objective + step.penalty * (step.weight / unit);
    objective.backward();
  }
  result.samples += step.samples;
  result.tokens += step.tokens;
  const at::Tensor loss = step.loss.detach();
  return {step.weight > 0 ? loss / step.weight : loss, step.penalty.defined() ? step.penalty.detach() : at::Tensor(),
          step.weight, std::move(step.metrics)};
}

void TrainingStep::read(const std::vector<MicroBatch>& micro_batches, Result& result) const {
  std::vector<at::Tensor> tensors;
  for (const MicroBatch& batch : micro_batches) {
    tensors.push_back(batch.loss);
    if (batch.penalty.defined()) tensors.push_back(batch.penalty);
    for (const StepMetric& metric : batch.metrics) tensors.push_back(metric.total);
  }
  tensors.push_back(gradient_norms(parameters_));
  const std::vector<double> numbers = read_numbers(tensors);

  auto next = numbers.begin();
  for (size_t i = 0; i < micro_batches.size(); ++i) {
    const MicroBatch& batch = micro_batches[i];
    const auto take = [&](const char* name) {
      require_finite_number(*next, name, i, micro_batches.size());
      add_sums(result.sums, {{name, *next++ * batch.weight, batch.weight}});
    };
    take("loss");
    if (batch.penalty.defined()) take("penalty");
    for (const StepMetric& metric : batch.metrics) add_sums(result.sums, {{metric.name, *next++, metric.count}});
  }
  result.gradient_norm = norm_of_norms({next, numbers.end()});
  if (!std::isfinite(result.gradient_norm)) {
    const std::optional<std::string> name = first_non_finite_gradient(parameters_);
    throw NotFinite(name ? "the gradient of " + *name + " is not finite" : "the norm of the gradients overflows");
  }
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
