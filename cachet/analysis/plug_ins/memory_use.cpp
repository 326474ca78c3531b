#include "cachet/analysis/plug_ins/memory_use.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>

#include <cmath>
#include <utility>

#include "cachet/analysis/plug_ins/head_mixture.h"
#include "cachet/analysis/plug_ins/valid_tokens.h"
#include "cachet/analysis/statistics/numbers_of.h"

namespace cachet::analysis {
namespace {

at::Tensor squares_by_head(const at::Tensor& x) { return x.to(at::kCPU, at::kDouble).square().sum({0, 1, 3}); }

double absolute_sum(const at::Tensor& x) { return x.abs().sum(at::kDouble).item<double>(); }

}  // namespace

nn::Listener MemoryUse::listener() {
  return nn::Listener(
      [this](const std::string& path, nn::Signal signal, const at::Tensor& value) {
        if (signal == nn::Signal::token_padding) padding_ = {path, value};
        if (signal == nn::Signal::mixing_gate) sums_[path].gate = value.clone();
        if (signal == nn::Signal::self_output) sums_[path].self_output = value;
        if (signal != nn::Signal::memory_output) return;
        const auto [of, padding] = std::exchange(padding_, {});
        add(sums_[path], value, of == path ? padding : at::Tensor());
      },
      {nn::Signal::token_padding, nn::Signal::mixing_gate, nn::Signal::self_output, nn::Signal::memory_output});
}

void MemoryUse::add(Sums& sums, const at::Tensor& memory_output, const at::Tensor& padding) const {
  const at::NoGradGuard no_grad;
  const at::Tensor own = valid_tokens(std::exchange(sums.self_output, {}), padding),
                   memory = valid_tokens(memory_output, padding);
  const HeadMixture mixture = mixed_by_head(sums.gate, own, memory);
  const auto add_to = [](at::Tensor& total, const at::Tensor& more) { total = total.defined() ? total + more : more; };
  add_to(sums.memory_squares, squares_by_head(mixture.from_memory));
  add_to(sums.mixture_squares, squares_by_head(mixture.sum));
  sums.self += absolute_sum(own);
  sums.memory += absolute_sum(memory);
  sums.mixture += absolute_sum(mixture.sum);
  sums.values += static_cast<double>(own.numel());
  sums.memory_values += static_cast<double>(memory.numel());
}

ByLayer<MemoryUse::Layer> MemoryUse::layers() const {
  ByLayer<Layer> layers;
  for (const auto& [path, sums] : sums_) {
    Layer& layer = layers[path];
    layer.shares = numbers_of(sums.gate);
    layer.contributions = numbers_of((sums.memory_squares / sums.mixture_squares).sqrt());
    layer.contribution =
        std::sqrt(sums.memory_squares.sum().item<double>() / sums.mixture_squares.sum().item<double>());
    layer.self_activation = sums.self / sums.values;
    layer.memory_activation = sums.memory / sums.memory_values;
    layer.mixture_activation = sums.mixture / sums.values;
  }
  return layers;
}

}  // namespace cachet::analysis
