#include "cachet/train/machine/process_setup.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/Generator.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <latch>
#include <random>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "cachet/config/library_message.h"

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
  const at::Tensor before = generator.get_state();
  const auto damaged = [&] {
    return std::runtime_error("the checkpoint's state of the " + std::string(device.is_cpu() ? "CPU" : "GPU") +
                              "'s random number generator is damaged");
  };
  if (state.scalar_type() != at::kByte || (device.is_cpu() && state.sizes() != before.sizes())) throw damaged();
  try {
    generator.set_state(state.clone());
  } catch (const c10::Error&) {
    throw damaged();
  }
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
    if (const long threads = std::strtol(asked, nullptr, 10); threads > 0 && threads <= kMaxThreads)
      return static_cast<int>(threads);
  return static_cast<int>(std::clamp<int64_t>(std::thread::hardware_concurrency(), 1, kMaxThreads));
}

/// Starts so many threads for a moment. Throws std::runtime_error if the system does not start all of them.
void require_startable(int64_t threads) {
  std::latch done(1);
  std::vector<std::jthread> started;
  int problem = 0;
  try {
    for (int64_t i = 0; i < threads; ++i) started.emplace_back([&done] { done.wait(); });
  } catch (const std::system_error& error) {
    problem = error.code().value();
  }
  done.count_down();
  if (problem != 0)
    throw std::runtime_error("the system can start only " + std::to_string(started.size() + 1) +
                             " threads instead of " + std::to_string(threads + 1) + ": " +
                             config::start_problem(problem) + "; lower train.threads");
}

}  // namespace

void prepare_process(const TrainOptions& options) {
  use_threads(options.threads > 0 ? options.threads : default_threads());
  at::globalContext().setDeterministicAlgorithms(options.deterministic, /*warn_only=*/false);
  at::globalContext().setDeterministicCuDNN(options.deterministic);
  // cuBLAS reads it when it is first used; without it LibTorch refuses its products in this mode.
  if (options.deterministic) setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/0);
  at::manual_seed(options.seed);
}

void seed_draws(uint64_t seed, int64_t number) {
  std::seed_seq mixed{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32), static_cast<uint32_t>(number)};
  std::array<uint32_t, 2> words{};
  mixed.generate(words.begin(), words.end());
  at::manual_seed((static_cast<uint64_t>(words[1]) << 32) | words[0]);
}

void use_threads(int64_t threads) {
  if (threads > kMaxThreads)
    throw std::runtime_error(std::to_string(threads) + " threads are too many; the maximum is " +
                             std::to_string(kMaxThreads));
  require_startable(threads - 1);  // this one is there
  at::set_num_threads(static_cast<int>(threads));
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
  if (cpu == state.end()) throw std::runtime_error("the checkpoint has no state of the CPU's random number generator");
  set_generator_state(c10::kCPU, cpu->second);
  const at::Tensor other = device_state(state, rank);
  const c10::Device device = device_of(model);
  if (device.is_cpu() || !other.defined()) return device.is_cpu() && !other.defined();
  set_generator_state(device, other);
  return true;
}

}  // namespace cachet::train
