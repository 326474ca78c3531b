#include "cachet/train/machine/gpu_driver.h"

#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <fstream>
#include <memory>

namespace cachet::train {
namespace {

// Functions and constants of CUDA's driver API, whose binary interface is stable. Their result is 0 without an error.
using Init = int (*)(unsigned flags);
using DriverGetVersion = int (*)(int* version);
using DeviceGetCount = int (*)(int* count);
using DeviceGet = int (*)(int* device, int ordinal);
using DeviceGetName = int (*)(char* name, int length, int device);
using DeviceTotalMem = int (*)(size_t* bytes, int device);
using DeviceGetAttribute = int (*)(int* value, int attribute, int device);
constexpr int kComputeCapabilityMajor = 75, kComputeCapabilityMinor = 76;
constexpr int kNotFound = 500;  // CUDA_ERROR_NOT_FOUND

struct Close {
  void operator()(void* library) const { dlclose(library); }
};
using Library = std::unique_ptr<void, Close>;

/// A function of the library. If the library has no such function, calls of it return an error.
template <class Function>
class Symbol {
 public:
  Symbol(const Library& library, const char* name)
      : function_(reinterpret_cast<Function>(dlsym(library.get(), name))) {}
  template <class... Arguments>
  int operator()(Arguments... arguments) const {
    return function_ == nullptr ? kNotFound : function_(arguments...);
  }

 private:
  Function function_;
};

std::optional<Gpu> gpu_of(const Library& library, int ordinal) {
  const Symbol<DeviceGetAttribute> attribute(library, "cuDeviceGetAttribute");
  int device = 0;
  std::array<char, 256> name{};
  size_t bytes = 0;
  Gpu gpu;
  if (Symbol<DeviceGet>(library, "cuDeviceGet")(&device, ordinal) != 0 ||
      Symbol<DeviceGetName>(library, "cuDeviceGetName")(name.data(), static_cast<int>(name.size()) - 1, device) != 0 ||
      Symbol<DeviceTotalMem>(library, "cuDeviceTotalMem_v2")(&bytes, device) != 0 ||
      attribute(&gpu.major, kComputeCapabilityMajor, device) != 0 ||
      attribute(&gpu.minor, kComputeCapabilityMinor, device) != 0)
    return std::nullopt;
  gpu.name = name.data();
  gpu.memory_bytes = static_cast<int64_t>(bytes);
  return gpu;
}

}  // namespace

std::string Gpu::architecture() const { return "sm_" + std::to_string(major) + std::to_string(minor); }

std::optional<GpuDriver> query_gpu_driver() {
  const Library library(dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL));
  if (!library) return std::nullopt;
  GpuDriver driver;
  Symbol<DriverGetVersion>(library, "cuDriverGetVersion")(&driver.cuda);
  driver.error = Symbol<Init>(library, "cuInit")(0U);
  int count = 0;
  if (driver.error == 0) driver.error = Symbol<DeviceGetCount>(library, "cuDeviceGetCount")(&count);
  for (int ordinal = 0; driver.error == 0 && ordinal < count; ++ordinal)
    if (auto gpu = gpu_of(library, ordinal)) driver.gpus.push_back(std::move(*gpu));
  return driver;
}

std::string gpu_driver_version(const std::filesystem::path& driver) {
  // "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  Tue Sep 23 …": the first word that begins with a digit.
  std::ifstream file(driver / "version");
  for (std::string word; file >> word;)
    if (word.front() >= '0' && word.front() <= '9' && word.find('.') != std::string::npos) return word;
  return "";
}

std::string cuda_version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace cachet::train
