#include "cachet/train/step/device_step.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_copy.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>

#include "cachet/io/tensors/state_dict.h"
#include "cachet/ops/support/finite.h"
#include "cachet/train/machine/device.h"
#include "cachet/train/machine/process_setup.h"
#include "cachet/train/step/flagged_modules.h"
#include "cachet/train/step/gradients.h"
#include "cachet/train/step/precision.h"

namespace cachet::train {
namespace {

/// More combinations of input shapes than this run directly, as most of them would meet no recording.
constexpr size_t kMaxLayouts = 64;

std::vector<at::Tensor> buffers_of(const torch::nn::Module& model) {
  std::vector<at::Tensor> buffers;
  for (const io::NamedTensor& buffer : io::distinct_buffers(model)) buffers.push_back(buffer.tensor.detach());
  return buffers;
}

at::Tensor as_numbers(const at::Tensor& tensor) { return tensor.detach().to(at::kDouble).reshape({-1}); }

}  // namespace

DeviceStep::DeviceStep(TrainingTask& task, const TrainOptions& options, std::vector<NamedParameter> parameters,
                       Optimizer& optimizer, WeightAverage* average, std::unique_ptr<StepExecutor> executor)
    : task_(task),
      precision_(options.precision),
      clip_norm_(options.clip_norm),
      optimizer_(optimizer),
      average_(average),
      executor_(std::move(executor)),
      gradients_(std::move(parameters)),
      inputs_(kMaxLayouts),
      buffers_(buffers_of(task.model())),
      flagged_(flagged_modules(task.model())) {
  const at::NoGradGuard no_grad;
  for (const at::Tensor& buffer : buffers_) buffers_before_.push_back(buffer.clone());
  const at::TensorOptions options_of_numbers = at::TensorOptions(device_of(task.model())).dtype(at::kDouble);
  scalars_ = at::zeros({kFirstRate + optimizer.groups()}, options_of_numbers);
  bad_ = at::zeros({}, options_of_numbers);
  stopped_ = at::zeros({}, options_of_numbers.dtype(at::kFloat));
}

StepSummary DeviceStep::run(TrainingBatches& batches, int64_t micro_batches, const UpdateRates& rates,
                            double average_weight) {
  StepSummary summary;
  wait_for_step(batches, micro_batches, summary);
  batches.count_step([](std::vector<double>&) {});
  unit_ = total_weight_ = 0;
  Pending pending;
  for (int64_t i = 0; i < micro_batches; ++i)
    micro_batch(batches, i, micro_batches, rates, average_weight, pending, summary);
  pending.weight = total_weight_;
  for (const NamedParameter& parameter : gradients_.with_gradient()) pending.parameters.push_back(parameter.name);
  std::optional<Pending> before = std::exchange(pending_, std::move(pending));
  summary.read_steps = 0;
  if (!before) return summary;
  StepSummary earlier = read(*std::move(before));
  summary.sums = std::move(earlier.sums);
  summary.gradient_norm = earlier.gradient_norm;
  summary.read_steps = 1;
  return summary;
}

StepSummary DeviceStep::settle() {
  std::optional<Pending> last = std::exchange(pending_, std::nullopt);
  return last ? read(*std::move(last)) : nothing_read();
}

void DeviceStep::micro_batch(TrainingBatches& batches, int64_t index, int64_t count, const UpdateRates& rates,
                             double average_weight, Pending& pending, StepSummary& summary) {
  wait_for_micro_batch(batches, summary);
  batches.prepare();
  std::optional<PreparedBatch> prepared = batches.prepared();
  if (!prepared) throw std::logic_error("the task does not describe its prepared micro-batch");
  const double weight = prepared->weight;
  require_weight(weight);
  summary.samples += prepared->samples;
  summary.tokens += prepared->tokens;
  if (unit_ == 0) unit_ = weight;
  total_weight_ += weight;

  std::vector<double> scalars(kFirstRate);
  const double unit = unit_ > 0 ? unit_ : 1;
  scalars[kUnit] = unit;
  scalars[kWeight] = weight > 0 ? weight : 1;
  scalars[kPenaltyFactor] = weight / unit;
  scalars[kGradientFactor] = total_weight_ > 0 ? unit / total_weight_ : 0;
  scalars[kHasWeight] = total_weight_ > 0 ? 1 : 0;
  scalars[kAverageWeight] = average_weight;
  for (const double rate : optimizer_.group_rates(rates)) scalars.push_back(rate);
  executor_->write(scalars, scalars_);

  const bool first = index == 0, last = index + 1 == count;
  momentum_ = rates.momentum;
  const std::optional<std::string> layout = inputs_.place(prepared->tensors);
  const std::string flags = host_flags();
  const std::string key = std::string(first ? "first;" : "") + (last ? "last;" : "") + (weight > 0 ? "" : "empty;") +
                          flags + ";" + layout.value_or("");
  std::vector<at::Tensor> placed;
  for (const at::Tensor* tensor : prepared->tensors) placed.push_back(*tensor);
  Recorded unique;
  Recorded& recorded = layout ? recorded_[key] : unique;
  // If a recording failed, the same work runs again, from the same facts on the host.
  const auto launch = [&] {
    for (size_t i = 0; i < placed.size(); ++i) *prepared->tensors[i] = placed[i];
    set_host_flags(flags);
    work(batches, *prepared, first, last, recorded);
  };
  task_.record_passes(true);
  if (layout)
    executor_->run(key, launch);
  else
    executor_->run_directly(launch);
  task_.record_passes(false);
  if (std::exchange(moved_, false)) executor_->forget();
  if (last && average_ != nullptr) average_->forget_states();
  for (size_t i = 0; i < recorded.passed.size(); ++i) *prepared->tensors[i] = recorded.passed[i];
  set_host_flags(recorded.host_flags);
  pending.micro_batches.push_back(recorded.micro_batch);
  pending.micro_batches.back().weight = weight;
  pending.micro_batches.back().metric_counts = prepared->metric_counts;
  pending.reads.push_back(executor_->read(recorded.numbers));
}

void DeviceStep::work(TrainingBatches& batches, const PreparedBatch& prepared, bool first, bool last,
                      Recorded& recorded) {
  ops::RetainedValues retained(recorded.retained);
  if (first) begin();
  ForwardResult result = [&] {
    const PrecisionScope precision(precision_, stopped_.device().type());
    return batches.forward();
  }();
  if (result.metrics.size() != prepared.metric_counts.size())
    throw std::logic_error("the task describes " + std::to_string(prepared.metric_counts.size()) +
                           " metrics of a micro-batch, but has " + std::to_string(result.metrics.size()));
  if (prepared.weight > 0) {
    const at::ScalarType type = result.loss.scalar_type();
    at::Tensor objective = result.loss / scalar(kUnit, type);
    if (result.penalty.defined())
      objective = objective + result.penalty * scalar(kPenaltyFactor, result.penalty.scalar_type());
    objective.backward();
  }
  const at::NoGradGuard no_grad;
  recorded.micro_batch = {prepared.weight, result.penalty.defined(), {}, {}};
  const at::Tensor loss = result.loss.detach();
  std::vector<at::Tensor> numbers{as_numbers(loss / scalar(kWeight, loss.scalar_type()))};
  if (result.penalty.defined()) numbers.push_back(as_numbers(result.penalty));
  for (const at::Tensor& checked : numbers) bad_.add_(at::isfinite(checked).logical_not().sum());
  for (const StepMetric& metric : result.metrics) {
    recorded.micro_batch.metrics.push_back(metric.name);
    numbers.push_back(as_numbers(metric.total));
  }
  if (last) update(first, numbers);
  recorded.numbers = at::cat(numbers);
  recorded.host_flags = host_flags();
  recorded.retained = retained.take();
  recorded.passed.clear();
  for (const at::Tensor* tensor : prepared.tensors) recorded.passed.push_back(*tensor);
}

void DeviceStep::begin() {
  const at::NoGradGuard no_grad;
  gradients_.zero();
  bad_.zero_();
  if (!buffers_.empty()) at::_foreach_copy_(buffers_before_, buffers_);
}

void DeviceStep::update(bool single, std::vector<at::Tensor>& numbers) {
  moved_ = gradients_.fix() || moved_;
  std::vector<at::Tensor> gradients = gradients_.gradients();
  if (!gradients.empty()) {
    if (!single) at::_foreach_mul_(gradients, scalar(kGradientFactor, gradients.front().scalar_type()));
    const at::Tensor norms = at::stack(at::_foreach_norm(gradients, 2)).to(at::kDouble);
    // A norm may overflow although all values of the gradient are finite: the largest values show which it is.
    const at::Tensor largest =
        at::stack(at::_foreach_norm(gradients, std::numeric_limits<double>::infinity())).to(at::kDouble);
    const at::Tensor norm = norms.square().sum().sqrt();
    bad_.add_(at::isfinite(norm).logical_not());
    if (clip_norm_ > 0) {
      const at::Tensor factor = at::where(norm > clip_norm_, norm.reciprocal() * clip_norm_, at::ones_like(norm));
      at::_foreach_mul_(gradients, factor.to(gradients.front().scalar_type()));
    }
    numbers.insert(numbers.end(), {norms, largest});
  }
  stopped_.copy_(at::maximum(stopped_, (bad_ > 0).to(stopped_.scalar_type())));
  const at::Tensor skipped = at::maximum(stopped_, 1 - scalar(kHasWeight, stopped_.scalar_type()));
  std::vector<at::Tensor> rates;
  // The fused operators of LibTorch take a float32 rate on CUDA, and any rate on the CPU.
  const at::ScalarType type_of_rate = stopped_.is_cpu() ? at::kDouble : at::kFloat;
  for (int i = 0; i < optimizer_.groups(); ++i) rates.push_back(scalar(kFirstRate + i, type_of_rate));
  optimizer_.step({rates, momentum_, skipped});
  for (size_t i = 0; i < buffers_.size(); ++i)
    buffers_[i].copy_(at::where(stopped_ > 0, buffers_before_[i], buffers_[i]));
  if (average_ != nullptr) average_->update(scalars_[kAverageWeight] * (1 - stopped_.to(at::kDouble)));
}

std::string DeviceStep::host_flags() const {
  std::string flags;
  for (const ops::HostFlag* module : flagged_) flags += module->host_flag() ? '1' : '0';
  return flags;
}

void DeviceStep::set_host_flags(const std::string& flags) {
  for (size_t i = 0; i < flagged_.size(); ++i) flagged_[i]->set_host_flag(flags[i] == '1');
}

at::Tensor DeviceStep::scalar(int index, at::ScalarType type) const { return scalars_[index].to(type); }

StepSummary DeviceStep::read(Pending pending) const {
  StepSummary summary;
  std::vector<double> numbers, of_gradients;
  for (size_t i = 0; i < pending.reads.size(); ++i) {
    const std::vector<double> all = pending.reads[i]->wait();
    const auto end = all.begin() + static_cast<std::ptrdiff_t>(pending.micro_batches[i].size());
    numbers.insert(numbers.end(), all.begin(), end);
    of_gradients.assign(end, all.end());
  }
  summary.sums = sums_of(pending.micro_batches, numbers, /*checked=*/true);
  const auto norms = std::span(of_gradients).first(pending.parameters.size());
  summary.gradient_norm = pending.weight > 0 ? norm_of_norms(norms) : 0;
  if (std::isfinite(summary.gradient_norm)) return summary;
  for (size_t i = 0; i < pending.parameters.size(); ++i)
    if (!std::isfinite(of_gradients[pending.parameters.size() + i]))
      throw ops::NotFinite("the gradient of " + pending.parameters[i] + " is not finite");
  throw ops::NotFinite("the norm of the gradients overflows");
}

}  // namespace cachet::train
