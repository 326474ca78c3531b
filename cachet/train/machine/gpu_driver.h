#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace cachet::train {

/// A GPU as NVIDIA's driver describes it.
struct Gpu {
  std::string name;          // "NVIDIA H200"
  int major = 0, minor = 0;  // compute capability: 9 and 0
  int64_t memory_bytes = 0;

  std::string architecture() const;  // "sm_90"
  bool operator==(const Gpu&) const = default;
};

/// The answers of NVIDIA's driver library.
struct GpuDriver {
  int cuda = 0;   // newest version of CUDA that the driver supports: 13000 for CUDA 13.0
  int error = 0;  // number of the CUDA driver API's error with which the driver could not start; 0 without error
  std::vector<Gpu> gpus;  // GPUs that this process may use (CUDA_VISIBLE_DEVICES)
};

/// Asks the driver library (libcuda.so.1), also if LibTorch is a CPU build. Returns std::nullopt if this machine has no
/// driver library.
std::optional<GpuDriver> query_gpu_driver();

/// Returns the version of NVIDIA's kernel module, such as "580.95.05". Returns an empty text if the module is missing.
std::string gpu_driver_version(const std::filesystem::path& driver = "/proc/driver/nvidia");

/// Returns "13.0" for 13000, CUDA's form of the version.
std::string cuda_version_text(int version);

}  // namespace cachet::train
