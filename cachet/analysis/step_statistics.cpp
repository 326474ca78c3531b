#include "cachet/analysis/step_statistics.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/stack.h>

#include <cmath>
#include <stdexcept>

#include "cachet/nn/norm/batch_norm.h"
#include "cachet/nn/norm/power_norm.h"
#include "cachet/nn/norm/unified_norm.h"

namespace cachet::analysis {
namespace {

at::Tensor as_double(const at::Tensor& statistic) { return statistic.detach().to(at::kCPU, at::kDouble).clone(); }

// What a norm would use in evaluation; undefined for one that keeps none.
at::Tensor running_statistic(const torch::nn::Module& norm) {
  if (const auto* unified = dynamic_cast<const nn::UnifiedNorm*>(&norm))
    return unified->statistics.select(0, ops::UnifiedNormState::kRunning);
  if (const auto* power = dynamic_cast<const nn::PowerNorm*>(&norm))
    return power->statistics.select(0, ops::PowerNormState::kRunning);
  if (const auto* batch = dynamic_cast<const nn::BatchNorm*>(&norm)) return batch->running_var;
  return {};
}

}  // namespace

bool has_batch_statistics(const torch::nn::Module& model) {
  for (const auto& module : model.modules(/*include_self=*/false))
    if (running_statistic(*module).defined()) return true;
  return false;
}

StepStatistics::StepStatistics(const torch::nn::Module& model) {
  for (const auto& item : model.named_modules("", /*include_self=*/false))
    if (running_statistic(*item.value()).defined()) norms_[item.key()] = item.value();
}

nn::Listener StepStatistics::listener() {
  return nn::Listener(
      [this](const std::string& path, nn::Signal signal, const at::Tensor& value) {
        const auto found = norms_.find(path);
        if (found == norms_.end()) return;
        if (signal == nn::Signal::statistic) {
          layers_[path].forward.push_back(as_double(value));
          if (const auto* unified = dynamic_cast<const nn::UnifiedNorm*>(found->second.get())) {
            layers_[path].filtered.push_back(unified->steps_filtered());
            layers_[path].window = unified->settings().forward_window;
            layers_[path].gradient_window = unified->settings().backward_window;
          }
        }
        if (signal == nn::Signal::gradient_statistic) layers_[path].gradient.push_back(as_double(value));
        if (signal != nn::Signal::used_statistic) return;
        Layer& layer = layers_[path];
        const at::Tensor used = as_double(value), running = as_double(running_statistic(*found->second));
        layer.used.push_back(used.mean().item<double>());
        layer.running.push_back(running.mean().item<double>());
        layer.apart.push_back((used - running).norm().item<double>() / running.norm().item<double>());
      },
      {nn::Signal::statistic, nn::Signal::used_statistic, nn::Signal::gradient_statistic});
}

Fluctuation fluctuation_of(const std::vector<at::Tensor>& statistics) {
  if (statistics.empty()) throw std::invalid_argument("fluctuation: no steps");
  const at::NoGradGuard no_grad;
  const at::Tensor all = at::stack(statistics).to(at::kDouble);
  const double scale = std::sqrt(all.square().sum(1).mean().item<double>());
  const at::Tensor away = (all - all.mean(0, /*keepdim=*/true)).norm(2, {1}) / scale;
  Fluctuation fluctuation;
  for (int64_t step = 0; step < away.size(0); ++step) fluctuation.steps.push_back(away[step].item<double>());
  fluctuation.overall = std::sqrt(away.square().mean().item<double>());
  return fluctuation;
}

}  // namespace cachet::analysis
