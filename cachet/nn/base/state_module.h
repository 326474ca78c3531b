#pragma once

#include <torch/nn/module.h>

#include <string>
#include <vector>

#include "cachet/nn/base/cloneable.h"

namespace cachet::nn {

/// A module whose buffers are running state: statistics, counters, caches. If a model is converted to a narrower type,
/// the buffers of a StateModule stay float32, because eight bits of mantissa are too few for averages over thousands of
/// steps.
class StateModule : public CopyableModule {
 public:
  using CopyableModule::CopyableModule;
  using torch::nn::Module::to;
  void to(torch::Device device, torch::Dtype dtype, bool non_blocking = false) override;
  void to(torch::Dtype dtype, bool non_blocking = false) override;

 private:
  void keep_state(torch::Dtype dtype, const std::function<void()>& convert);
};

}  // namespace cachet::nn
