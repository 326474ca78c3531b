#include "cachet/analysis/plug_ins/token_activations.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>

#include "cachet/analysis/plug_ins/head_mixture.h"

namespace cachet::analysis {
namespace {

at::Tensor widened(const at::Tensor& tokens) { return tokens.to(c10::promoteTypes(tokens.scalar_type(), at::kFloat)); }

at::Tensor mean_activation(const at::Tensor& tokens) { return widened(tokens).abs().mean(2).cpu(); }

at::Tensor mean_output(const at::Tensor& tokens) { return widened(tokens).mean(2).cpu(); }

}  // namespace

nn::Listener TokenActivations::listener() {
  return nn::Listener(
      [this](const std::string& path, nn::Signal signal, const at::Tensor& value) {
        const at::NoGradGuard no_grad;
        if (signal == nn::Signal::token_grid) {
          Call& call = calls_[path];
          call.class_tokens = value[0].item<int64_t>();
          call.grid = nn::Grid{value[1].item<int64_t>(), value[2].item<int64_t>()};
        }
        if (signal == nn::Signal::mixing_gate) calls_[path].gate = value.clone();
        if (signal == nn::Signal::self_output) calls_[path].self_output = value;
        if (signal != nn::Signal::memory_output) return;
        Call& call = calls_[path];
        const at::Tensor mixture = mixed_by_head(call.gate, call.self_output, value).sum.flatten(2);
        layers_[path] = {call.grid,
                         call.class_tokens,
                         mean_activation(call.self_output),
                         mean_activation(value),
                         mean_activation(mixture),
                         mean_output(call.self_output),
                         mean_output(value)};
        call = {};
      },
      {nn::Signal::token_grid, nn::Signal::mixing_gate, nn::Signal::self_output, nn::Signal::memory_output});
}

}  // namespace cachet::analysis
