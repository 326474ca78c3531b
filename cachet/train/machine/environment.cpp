#include "cachet/train/machine/environment.h"

#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <torch/headeronly/version.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "cachet/report/format.h"
#include "cachet/train/machine/cuda_build.h"
#include "cachet/train/machine/device.h"
#include "cachet/train/machine/gpu_driver.h"
#include "cachet/train/machine/processor_models.h"

// TORCH_ABI_VERSION of the LibTorch that is loaded. Declared here as one that may be missing, in releases before they
// had it, so that Cachet starts with any.
extern "C" [[gnu::weak]] uint64_t aoti_torch_abi_version();

namespace cachet::train {
namespace {

std::string version_text(uint64_t abi) {
  const auto byte = [abi](int place) { return std::to_string(abi >> (8 * place) & 0xFF); };
  return byte(7) + "." + byte(6) + "." + byte(5);
}

int64_t memory_bytes() {
  const int64_t pages = sysconf(_SC_PHYS_PAGES), bytes_a_page = sysconf(_SC_PAGESIZE);
  return pages > 0 && bytes_a_page > 0 ? pages * bytes_a_page : 0;
}

constexpr const char* kMemoryKey = "memory_bytes";

}  // namespace

std::string cachet_version() { return CACHET_VERSION; }
std::string torch_version() {
  const uint64_t built = TORCH_ABI_VERSION;
  const uint64_t loaded = aoti_torch_abi_version == nullptr ? built : aoti_torch_abi_version();
  return version_text(loaded) == version_text(built) ? TORCH_VERSION : version_text(loaded);
}

Environment environment() {
  Environment environment;
  environment.cachet_version = cachet_version();
  environment.commit = CACHET_COMMIT;
  environment.compiler = CACHET_COMPILER;
  environment.build_flags = CACHET_BUILD_FLAGS;
  environment.torch_version = torch_version();
  environment.torch_built = TORCH_VERSION;
  environment.processor = processor_model();
  if (available_devices().size() > 1) environment.gpus = gpu_models();
  if (const int version = cuda_version(); version > 0) environment.cuda = cuda_version_text(version);
  environment.gpu_driver = gpu_driver_version();
  environment.cpu_capability = at::get_cpu_capability();
  environment.threads = at::get_num_threads();
  environment.hardware_threads = static_cast<int>(std::thread::hardware_concurrency());
  environment.memory_bytes = memory_bytes();
  return environment;
}

std::string EnvironmentEntry::text() const {
  const auto* number = std::get_if<int64_t>(&value);
  if (number == nullptr) return std::get<std::string>(value);
  return key == kMemoryKey ? report::format_bytes(*number) : std::to_string(*number);
}

std::vector<EnvironmentEntry> entries(const Environment& environment) {
  std::vector<EnvironmentEntry> all{
      {"cachet", environment.cachet_version}, {"commit", environment.commit},
      {"compiler", environment.compiler},     {"build_flags", environment.build_flags},
      {"torch", environment.torch_version},   {"torch_built", environment.torch_built},
      {"processor", environment.processor},   {"cpu_capability", environment.cpu_capability},
      {"threads", environment.threads},       {"hardware_threads", environment.hardware_threads},
      {kMemoryKey, environment.memory_bytes}};
  if (!environment.gpus.empty()) all.push_back({"gpus", environment.gpus});
  if (!environment.cuda.empty()) all.push_back({"cuda", environment.cuda});
  if (!environment.gpu_driver.empty()) all.push_back({"gpu_driver", environment.gpu_driver});
  if (environment.processes > 0) all.push_back({"processes", environment.processes});
  return all;
}

std::optional<std::string> torch_mismatch(const Environment& environment) {
  if (environment.torch_version == environment.torch_built) return std::nullopt;
  return "LibTorch " + environment.torch_version + " is loaded, but Cachet was built against " +
         environment.torch_built +
         ". Cachet may crash or give wrong results; build Cachet against the version that is loaded, or load the "
         "version that Cachet was built against (LD_LIBRARY_PATH)";
}

bool runs_on_gpu(const Environment& environment, const DeviceChoice& choice) {
  return choice.kind != DeviceChoice::Kind::cpu && !environment.gpus.empty();
}

std::string device_text(const Environment& environment, const DeviceChoice& choice) {
  const bool on_gpu = runs_on_gpu(environment, choice);
  const std::string several = environment.processes > 1 ? std::to_string(environment.processes) +
                                                              (on_gpu ? " processes with " : " processes, each with ")
                                                        : "";
  if (on_gpu) return several + environment.gpus;
  return several + std::to_string(environment.threads) + (environment.threads == 1 ? " thread of " : " threads of ") +
         environment.processor;
}

std::string to_json(const Environment& environment) {
  nlohmann::ordered_json json{{"schema", 1}};
  for (const EnvironmentEntry& entry : entries(environment)) {
    std::visit([&](const auto& value) { json[entry.key] = value; }, entry.value);
  }
  return json.dump(2) + "\n";
}

std::string to_text(const Environment& environment) {
  return "cachet " + environment.cachet_version + " (" + environment.commit + "), LibTorch " +
         environment.torch_version + ", " + environment.cpu_capability + ", " + std::to_string(environment.threads) +
         " of " + std::to_string(environment.hardware_threads) + " threads, " + environment.compiler + " " +
         environment.build_flags;
}

}  // namespace cachet::train
