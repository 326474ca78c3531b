#include "cachet/train/machine/device.h"

#include <ATen/Context.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "cachet/train/machine/gpu_problem.h"

namespace cachet::train {
namespace {

class IgnoredWarnings final : public c10::WarningHandler {
 public:
  void process(const c10::Warning& /*warning*/) override {}
};

}  // namespace

std::vector<c10::Device> available_devices() {
  std::vector<c10::Device> devices{c10::Device(c10::kCPU)};
  IgnoredWarnings ignored;  // LibTorch warns of an old driver; gpu_problem() has a line with the remedy
  const c10::WarningUtils::WarningHandlerGuard guard(&ignored);
  if (!at::hasCUDA()) return devices;
  for (c10::DeviceIndex i = 0; i < at::detail::getCUDAHooks().deviceCount(); ++i) devices.emplace_back(c10::kCUDA, i);
  return devices;
}

c10::Device find_device(const DeviceChoice& choice, const std::vector<c10::Device>& available) {
  if (choice.kind == DeviceChoice::Kind::cpu) return {c10::kCPU};
  const c10::Device wanted(c10::kCUDA, choice.index);
  if (std::ranges::find(available, wanted) != available.end()) return wanted;
  if (choice.kind == DeviceChoice::Kind::automatic) return {c10::kCPU};
  std::string names;
  for (const c10::Device& device : available) names += (names.empty() ? "" : ", ") + device.str();
  const std::optional<std::string> problem = gpu_problem();
  throw std::runtime_error("there is no device " + wanted.str() + " on this machine; the available devices are " +
                           names + (problem ? "\n" + *problem : ""));
}

DeviceChoice choice_of_process(const DeviceChoice& choice, int64_t process, const std::vector<c10::Device>& available) {
  const auto gpus = static_cast<int64_t>(std::ranges::count_if(available, &c10::Device::is_cuda));
  if (choice.kind == DeviceChoice::Kind::cpu || choice.index != 0 || gpus == 0) return choice;
  if (process >= gpus)
    throw std::runtime_error("each process needs its own GPU, but the number of GPUs of this machine is " +
                             std::to_string(gpus) +
                             "; start at most that many processes, or train on the CPU with --set train.device=cpu");
  return {DeviceChoice::Kind::cuda, static_cast<int8_t>(process)};
}

c10::Device device_of(const torch::nn::Module& model) {
  const std::vector<at::Tensor> parameters = model.parameters();
  return parameters.empty() ? c10::Device(c10::kCPU) : parameters.front().device();
}

void place(torch::nn::Module& model, c10::Device device) {
  const auto elsewhere = [&](const at::Tensor& tensor) { return tensor.defined() && tensor.device() != device; };
  if (std::ranges::any_of(model.parameters(), elsewhere) || std::ranges::any_of(model.buffers(), elsewhere)) {
    model.to(device);
  }
}

void move_to(c10::Device device, std::initializer_list<at::Tensor*> tensors) {
  for (at::Tensor* tensor : tensors) {
    if (!tensor->defined() || tensor->device() == device) continue;
    const bool pins = device.is_cuda() && tensor->is_cpu();
    *tensor = (pins ? tensor->pin_memory() : *tensor).to(device, /*non_blocking=*/!device.is_cpu());
  }
}

std::optional<int64_t> device_peak_bytes(c10::Device device) {
  if (!device.is_cuda()) return std::nullopt;
  constexpr size_t kAllPools = 0;
  return c10::getDeviceAllocator(device.type())->getDeviceStats(device.index()).allocated_bytes[kAllPools].peak;
}

void reset_device_peak(c10::Device device) {
  if (device.is_cuda()) c10::getDeviceAllocator(device.type())->resetPeakStats(device.index());
}

}  // namespace cachet::train
