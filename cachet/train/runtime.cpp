#include "cachet/train/runtime.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/Generator.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace cachet::train {
namespace {

constexpr const char* kCpuRole = "cpu";
constexpr const char* kDeviceRole = "device";

std::string generator_key(const char* role, int64_t rank) {
  return rank == 0 ? role : std::string(role) + "." + std::to_string(rank);
}

at::Tensor generator_state(c10::Device device) {
  at::Generator generator = at::globalContext().defaultGenerator(device);
  const std::lock_guard<std::mutex> lock(generator.mutex());
  return generator.get_state();
}

void set_generator_state(c10::Device device, const at::Tensor& state) {
  at::Generator generator = at::globalContext().defaultGenerator(device);
  const std::lock_guard<std::mutex> lock(generator.mutex());
  generator.set_state(state.clone());
}

/// The state of the device's generator, by its role or, in older checkpoints, by a device; undefined where there is
/// none.
at::Tensor device_state(const io::TensorMap& state, int64_t rank) {
  const auto found = state.find(generator_key(kDeviceRole, rank));
  if (found != state.end()) return found->second;
  if (rank != 0) return {};
  const auto older = std::ranges::find_if(state, [](const auto& item) { return item.first.starts_with("cuda:"); });
  return older == state.end() ? at::Tensor() : older->second;
}

// OMP_NUM_THREADS, of whose list the first counts, else those of the machine. LibTorch's own default is what a process
// was set to last, and a process may train several runs.
int default_threads() {
  if (const char* asked = std::getenv("OMP_NUM_THREADS"))
    if (const long threads = std::strtol(asked, nullptr, 10); threads > 0 && threads <= kMostThreads)
      return static_cast<int>(threads);
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

}  // namespace

void prepare_process(const TrainOptions& options) {
  at::set_num_threads(options.threads > 0 ? static_cast<int>(options.threads) : default_threads());
  at::globalContext().setDeterministicAlgorithms(options.deterministic, /*warn_only=*/false);
  at::globalContext().setDeterministicCuDNN(options.deterministic);
  // cuBLAS reads it when it is first used; without it LibTorch refuses its products in this mode.
  if (options.deterministic) setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/0);
  at::manual_seed(options.seed);
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

io::TensorMap random_state(const torch::nn::Module& model, int64_t rank) {
  io::TensorMap state{{generator_key(kCpuRole, rank), generator_state(c10::kCPU)}};
  const c10::Device device = device_of(model);
  if (!device.is_cpu()) state.emplace(generator_key(kDeviceRole, rank), generator_state(device));
  return state;
}

bool set_random_state(const torch::nn::Module& model, const io::TensorMap& state, int64_t rank) {
  const auto cpu = state.find(generator_key(kCpuRole, rank));
  if (cpu == state.end()) throw std::runtime_error("the checkpoint has no state of the CPU's generator");
  set_generator_state(c10::kCPU, cpu->second);
  const at::Tensor other = device_state(state, rank);
  const c10::Device device = device_of(model);
  if (device.is_cpu() || !other.defined()) return device.is_cpu() && !other.defined();
  set_generator_state(device, other);
  return true;
}

int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  int64_t total = 0, resident = 0;
  file >> total >> resident;
  return file ? resident * sysconf(_SC_PAGESIZE) : 0;
}

}  // namespace cachet::train
