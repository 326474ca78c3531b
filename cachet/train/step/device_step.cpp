#include "cachet/train/step/device_step.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_copy.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_norm.h>
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
#include "cachet/train/step/gradients.h"

namespace cachet::train {
namespace {

std::vector<at::Tensor> buffers_of(const torch::nn::Module& model) {
  std::vector<at::Tensor> buffers;
  for (const io::NamedTensor& buffer : io::distinct_buffers(model)) buffers.push_back(buffer.tensor.detach());
  return buffers;
}

}  // namespace

DeviceStep::DeviceStep(TrainingTask& task, const TrainOptions& options, std::vector<NamedParameter> parameters,
                       Optimizer& optimizer, WeightAverage* average, std::shared_ptr<StepExecutor> executor)
    : clip_norm_(options.clip_norm),
      optimizer_(optimizer),
      average_(average),
      passes_(task, options.precision, kFirstRate + optimizer.groups(), std::move(executor)),
      gradients_(std::move(parameters)),
      buffers_(buffers_of(task.model())) {
  const at::NoGradGuard no_grad;
  for (const at::Tensor& buffer : buffers_) buffers_before_.push_back(buffer.clone());
  const at::TensorOptions options_of_numbers = at::TensorOptions(device_of(task.model())).dtype(at::kDouble);
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
  const PreparedBatch prepared = described_batch(batches);
  summary.samples += prepared.samples;
  summary.tokens += prepared.tokens;
  if (unit_ == 0) unit_ = prepared.weight;
  total_weight_ += prepared.weight;

  const double unit = unit_ > 0 ? unit_ : 1;
  PassNumbers numbers{unit, prepared.weight > 0, std::vector<double>(kFirstRate)};
  numbers.further[kGradientFactor] = total_weight_ > 0 ? unit / total_weight_ : 0;
  numbers.further[kHasWeight] = total_weight_ > 0 ? 1 : 0;
  numbers.further[kAverageWeight] = average_weight;
  for (const double rate : optimizer_.group_rates(rates)) numbers.further.push_back(rate);

  const bool first = index == 0, last = index + 1 == count;
  momentum_ = rates.momentum;
  PassWork work{std::string(first ? "first;" : "") + (last ? "last;" : "")};
  work.before = [&] {
    if (first) begin();
  };
  work.after = [&](std::vector<at::Tensor>& all, size_t losses) {
    for (const at::Tensor& checked : std::span(all).first(losses)) bad_.add_(at::isfinite(checked).logical_not().sum());
    if (last) update(first, all);
  };
  PassResult result = passes_.run(batches, prepared, numbers, work);
  if (std::exchange(moved_, false)) passes_.forget();
  if (last && average_ != nullptr) average_->forget_states();
  pending.micro_batches.push_back(std::move(result.micro_batch));
  pending.reads.push_back(passes_.executor().read(result.numbers));
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
    if (!single) at::_foreach_mul_(gradients, passes_.further(kGradientFactor, gradients.front().scalar_type()));
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
  const at::Tensor skipped = at::maximum(stopped_, 1 - passes_.further(kHasWeight, stopped_.scalar_type()));
  std::vector<at::Tensor> rates;
  // The fused operators of LibTorch take a float32 rate on CUDA, and any rate on the CPU.
  const at::ScalarType type_of_rate = stopped_.is_cpu() ? at::kDouble : at::kFloat;
  for (int64_t i = 0; i < optimizer_.groups(); ++i) rates.push_back(passes_.further(kFirstRate + i, type_of_rate));
  optimizer_.step({rates, momentum_, skipped});
  for (size_t i = 0; i < buffers_.size(); ++i)
    buffers_[i].copy_(at::where(stopped_ > 0, buffers_before_[i], buffers_[i]));
  if (average_ != nullptr)
    average_->update(passes_.further(kAverageWeight, at::kDouble) * (1 - stopped_.to(at::kDouble)));
}

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
