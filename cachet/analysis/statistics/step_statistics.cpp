#include "cachet/analysis/statistics/step_statistics.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/stack.h>

#include <cmath>
#include <stdexcept>
#include <utility>

#include "cachet/nn/norm/norm.h"

namespace cachet::analysis {
namespace {

at::Tensor as_double(const at::Tensor& statistic) { return statistic.detach().to(at::kCPU, at::kDouble).clone(); }

// The module as a norm that keeps a statistic of the batches, else null.
std::shared_ptr<const nn::Norm> batch_norm(const std::shared_ptr<torch::nn::Module>& module) {
  auto norm = std::dynamic_pointer_cast<const nn::Norm>(module);
  return norm && norm->running_statistic().defined() ? norm : nullptr;
}

}  // namespace

bool has_batch_statistics(const torch::nn::Module& model) {
  for (const auto& module : model.modules(/*include_self=*/false))
    if (batch_norm(module)) return true;
  return false;
}

StepStatistics::StepStatistics(const torch::nn::Module& model) {
  for (const auto& item : model.named_modules("", /*include_self=*/false))
    if (auto norm = batch_norm(item.value())) norms_[item.key()] = std::move(norm);
}

nn::Listener StepStatistics::listener() {
  return nn::Listener(
      [this](const std::string& path, nn::Signal signal, const at::Tensor& value) {
        const auto found = norms_.find(path);
        if (found == norms_.end()) return;
        if (signal == nn::Signal::statistic) {
          layers_[path].forward.push_back(as_double(value));
          if (const auto window = found->second->window()) {
            layers_[path].filtered.push_back(found->second->window_use()->filtered);
            layers_[path].window = window->forward;
            layers_[path].gradient_window = window->backward;
          }
        }
        if (signal == nn::Signal::gradient_statistic) layers_[path].gradient.push_back(as_double(value));
        if (signal != nn::Signal::used_statistic) return;
        Layer& layer = layers_[path];
        const at::Tensor used = as_double(value), running = as_double(found->second->running_statistic());
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
