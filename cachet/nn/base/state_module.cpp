#include "cachet/nn/base/state_module.h"

#include <c10/core/ScalarType.h>

namespace cachet::nn {

void StateModule::keep_state(torch::Dtype dtype, const std::function<void()>& convert) {
  std::vector<torch::Tensor> before;
  for (const auto& buffer : buffers(/*recurse=*/false)) before.push_back(buffer.detach().clone());
  convert();
  const bool narrow = c10::elementSize(dtype) < c10::elementSize(at::kFloat);
  size_t i = 0;
  for (auto& buffer : buffers(/*recurse=*/false)) {
    const auto& kept = before[i++];
    // torch::nn::Module converts counters like anything else.
    if (!kept.is_floating_point())
      buffer.set_data(kept.to(buffer.device()));
    else if (narrow)
      buffer.set_data(kept.to(buffer.device(), at::kFloat));
  }
}

void StateModule::to(torch::Device device, torch::Dtype dtype, bool non_blocking) {
  keep_state(dtype, [&] { torch::nn::Module::to(device, dtype, non_blocking); });
}

void StateModule::to(torch::Dtype dtype, bool non_blocking) {
  keep_state(dtype, [&] { torch::nn::Module::to(dtype, non_blocking); });
}

}  // namespace cachet::nn
