#include "cachet/train/runtime.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/Generator.h>
#include <unistd.h>

#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace cachet::train {
namespace {

std::vector<c10::Device> devices_with_generators(const torch::nn::Module& model) {
  std::vector<c10::Device> devices{c10::Device(c10::kCPU)};
  const c10::Device device = device_of(model);
  if (!device.is_cpu()) devices.push_back(device);
  return devices;
}

}  // namespace

void prepare_process(const TrainOptions& options) {
  const int64_t machine = std::max(1U, std::thread::hardware_concurrency());
  at::set_num_threads(static_cast<int>(options.threads > 0 ? options.threads : machine));
  at::globalContext().setDeterministicAlgorithms(options.deterministic, /*warn_only=*/false);
  at::manual_seed(options.seed);
}

c10::Device device_of(const torch::nn::Module& model) {
  const std::vector<at::Tensor> parameters = model.parameters();
  return parameters.empty() ? c10::Device(c10::kCPU) : parameters.front().device();
}

PrecisionScope::PrecisionScope(Precision precision, c10::DeviceType device)
    : device_(device), active_(precision == Precision::bfloat16) {
  if (!active_) return;
  enabled_before_ = at::autocast::is_autocast_enabled(device_);
  type_before_ = at::autocast::get_autocast_dtype(device_);
  at::autocast::set_autocast_dtype(device_, c10::ScalarType::BFloat16);
  at::autocast::set_autocast_enabled(device_, true);
  at::autocast::increment_nesting();
}

PrecisionScope::~PrecisionScope() {
  if (!active_) return;
  // The cache holds bfloat16 copies of weights that the optimizer is about to change.
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(device_, enabled_before_);
  at::autocast::set_autocast_dtype(device_, type_before_);
}

io::TensorMap random_state(const torch::nn::Module& model) {
  io::TensorMap state;
  for (const c10::Device& device : devices_with_generators(model)) {
    at::Generator generator = at::globalContext().defaultGenerator(device);
    const std::lock_guard<std::mutex> lock(generator.mutex());
    state.emplace(device.str(), generator.get_state());
  }
  return state;
}

void set_random_state(const torch::nn::Module& model, const io::TensorMap& state) {
  for (const c10::Device& device : devices_with_generators(model)) {
    const auto found = state.find(device.str());
    if (found == state.end()) {
      throw std::runtime_error("the checkpoint has no generator state for " + device.str() +
                               ": it was trained on another device");
    }
    at::Generator generator = at::globalContext().defaultGenerator(device);
    const std::lock_guard<std::mutex> lock(generator.mutex());
    generator.set_state(found->second.clone());
  }
}

int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  int64_t total = 0, resident = 0;
  file >> total >> resident;
  return file ? resident * sysconf(_SC_PAGESIZE) : 0;
}

}  // namespace cachet::train
