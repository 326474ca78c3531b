#include "cachet/analysis/statistics/recent_normality.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>

#include <limits>

#include "cachet/analysis/statistics/normality.h"
#include "cachet/analysis/statistics/numbers_of.h"

namespace cachet::analysis {
namespace {

at::Tensor rows_of(const std::deque<at::Tensor>& statistics, int64_t passes) {
  if (static_cast<int64_t>(statistics.size()) < passes) return at::empty({0});
  const at::NoGradGuard no_grad;
  return at::stack(std::vector<at::Tensor>(statistics.begin(), statistics.end()));
}

}  // namespace

RecentNormality::RecentNormality(torch::nn::Module& model, int64_t passes)
    : passes_(passes), observation_(model, listener()) {}

nn::Listener RecentNormality::listener() {
  return nn::Listener(
      [this](const std::string& path, nn::Signal signal, const at::Tensor& value) {
        if (!recorded_) return;
        if (signal == nn::Signal::statistic) keep(layers_[path].forward, value);
        if (signal == nn::Signal::gradient_statistic) keep(layers_[path].gradient, value);
      },
      {nn::Signal::statistic, nn::Signal::gradient_statistic});
}

// They stay where the model is: a look at them waits for a device, a step does not.
void RecentNormality::keep(std::deque<at::Tensor>& statistics, const at::Tensor& newest) const {
  statistics.push_back(newest.detach().clone());
  if (static_cast<int64_t>(statistics.size()) > passes_) statistics.pop_front();
}

std::vector<RecentNormality::UnreadLayer> RecentNormality::unread_layers() const {
  std::vector<UnreadLayer> found;
  for (const auto& [path, statistics] : layers_) {
    if (static_cast<int64_t>(statistics.forward.size()) < passes_) continue;
    found.push_back({path, rows_of(statistics.forward, passes_), rows_of(statistics.gradient, passes_)});
  }
  return found;
}

double RecentNormality::normal_share(std::span<const double> numbers) const {
  if (numbers.empty()) return std::numeric_limits<double>::quiet_NaN();
  const at::Tensor rows = at::tensor(c10::ArrayRef<double>(numbers.data(), numbers.size()), at::kDouble);
  return normal_channels(rows.view({passes_, -1}), passes_).fraction();
}

std::vector<RecentNormality::Layer> RecentNormality::layers() const {
  std::vector<Layer> found;
  for (const UnreadLayer& layer : unread_layers())
    found.push_back({layer.layer, normal_share(numbers_of(layer.forward)), normal_share(numbers_of(layer.gradient))});
  return found;
}

}  // namespace cachet::analysis
