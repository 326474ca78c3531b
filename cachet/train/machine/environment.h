#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cachet/train/machine/device_choice.h"

namespace cachet::train {

/// The facts about software and hardware for a bug report. The facts do not identify the machine or its user.
struct Environment {
  std::string cachet_version;
  std::string commit;  // commit of Cachet's source; "unknown" outside a checkout
  std::string compiler, build_flags;
  std::string torch_version;   // version of the loaded LibTorch
  std::string torch_built;     // version of the LibTorch that Cachet was built against
  std::string processor;       // model of the processor: "AMD EPYC 9B14"; "unknown" if the system does not report it
  std::string gpus;            // models of the GPUs that LibTorch can use: "2 x NVIDIA H200"; empty if there are none
  std::string cuda;            // CUDA with which LibTorch was built: "13.0"; empty for a CPU build
  std::string gpu_driver;      // version of NVIDIA's driver: "580.95.05"; empty if there is none
  std::string cpu_capability;  // instruction set that LibTorch's kernels use: "AVX512"
  int threads = 0;
  int hardware_threads = 0;
  int64_t memory_bytes = 0;  // memory of the machine; 0 if the system does not report it
  int64_t processes = 0;     // number of processes that train a run together, each with `threads`; 0 without a run
};

Environment environment();

/// A key of environment.json and the key's value.
struct EnvironmentEntry {
  std::string key;
  std::variant<std::string, int64_t> value;

  std::string text() const;  // text for people: bytes as "23.5 GiB"
};
/// Returns the entries of `environment` in the order in which they are displayed.
std::vector<EnvironmentEntry> entries(const Environment& environment);

/// Whether a run whose `train.device` is `choice` uses a GPU on this machine.
bool runs_on_gpu(const Environment& environment, const DeviceChoice& choice);

/// Returns the device of a run whose `train.device` is `choice`: the GPUs, or "2 threads of AMD EPYC 9B14". For several
/// processes, returns "2 processes, each with 1 thread of AMD EPYC 9B14".
std::string device_text(const Environment& environment, const DeviceChoice& choice);

std::string to_json(const Environment& environment);  // returns one object, with a schema number
std::string to_text(const Environment& environment);  // returns one line
/// Returns a line for the user if the loaded LibTorch differs from the LibTorch that Cachet was built against.
std::optional<std::string> torch_mismatch(const Environment& environment);

std::string cachet_version();
std::string torch_version();  // version of the loaded LibTorch: "2.13.0"

}  // namespace cachet::train
