#include "cachet/analysis/plug_ins/gate_use.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>

namespace cachet::analysis {

nn::Listener GateUse::listener() {
  return nn::Listener(
      [this](const std::string& path, nn::Signal signal, const at::Tensor& value) {
        if (signal != nn::Signal::reset_gate && signal != nn::Signal::update_gate) return;
        Both& both = sums_[path];
        Sums& sums = signal == nn::Signal::reset_gate ? both.reset : both.update;
        sums.sum += value.sum(at::kDouble).item<double>();
        sums.shut += value.lt(kGateShut).sum().item<double>();
        sums.open += value.gt(kGateOpen).sum().item<double>();
        sums.count += static_cast<double>(value.numel());
      },
      {nn::Signal::reset_gate, nn::Signal::update_gate});
}

ByLayer<GateUse::Layer> GateUse::layers() const {
  ByLayer<Layer> layers;
  for (const auto& [path, both] : sums_) layers[path] = {both.reset.mean(), both.update.mean()};
  return layers;
}

}  // namespace cachet::analysis
