#include "cachet/analysis/statistics/recent_normality.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/stack.h>

#include <limits>

#include "cachet/analysis/statistics/normality.h"

namespace cachet::analysis {
namespace {

double normal_share(const std::deque<at::Tensor>& statistics, int64_t passes) {
  if (static_cast<int64_t>(statistics.size()) < passes) return std::numeric_limits<double>::quiet_NaN();
  const at::NoGradGuard no_grad;
  return normal_channels(at::stack(std::vector<at::Tensor>(statistics.begin(), statistics.end())), passes).share();
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

std::vector<RecentNormality::Layer> RecentNormality::layers() const {
  std::vector<Layer> found;
  for (const auto& [path, statistics] : layers_) {
    if (static_cast<int64_t>(statistics.forward.size()) < passes_) continue;
    found.push_back({path, normal_share(statistics.forward, passes_), normal_share(statistics.gradient, passes_)});
  }
  return found;
}

}  // namespace cachet::analysis
