#include "cachet/train/environment.h"

#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <torch/headeronly/version.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "cachet/report/format.h"
#include "cachet/train/device.h"
#include "cachet/train/processor_models.h"

namespace cachet::train {
namespace {

int64_t memory_bytes() {
  const int64_t pages = sysconf(_SC_PHYS_PAGES), bytes_a_page = sysconf(_SC_PAGESIZE);
  return pages > 0 && bytes_a_page > 0 ? pages * bytes_a_page : 0;
}

constexpr const char* kMemoryKey = "memory_bytes";

}  // namespace

std::string cachet_version() { return CACHET_VERSION; }
std::string torch_version() { return TORCH_VERSION; }

Environment environment() {
  Environment environment;
  environment.cachet_version = cachet_version();
  environment.commit = CACHET_COMMIT;
  environment.compiler = CACHET_COMPILER;
  environment.build_flags = CACHET_BUILD_FLAGS;
  environment.torch_version = torch_version();
  environment.processor = processor_model();
  if (available_devices().size() > 1) environment.gpus = gpu_models();
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
  std::vector<EnvironmentEntry> all{{"cachet", environment.cachet_version},
                                    {"commit", environment.commit},
                                    {"compiler", environment.compiler},
                                    {"build_flags", environment.build_flags},
                                    {"torch", environment.torch_version},
                                    {"processor", environment.processor},
                                    {"cpu_capability", environment.cpu_capability},
                                    {"threads", environment.threads},
                                    {"hardware_threads", environment.hardware_threads},
                                    {kMemoryKey, environment.memory_bytes}};
  if (!environment.gpus.empty()) all.push_back({"gpus", environment.gpus});
  return all;
}

bool runs_on_gpu(const Environment& environment, const DeviceChoice& choice) {
  return choice.kind != DeviceChoice::Kind::cpu && !environment.gpus.empty();
}

std::string device_text(const Environment& environment, const DeviceChoice& choice) {
  if (runs_on_gpu(environment, choice)) return environment.gpus;
  return std::to_string(environment.threads) + (environment.threads == 1 ? " thread of " : " threads of ") +
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
