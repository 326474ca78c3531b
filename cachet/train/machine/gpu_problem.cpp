#include "cachet/train/machine/gpu_problem.h"

#include <charconv>
#include <cstdlib>
#include <utility>

#include "cachet/report/format.h"

namespace cachet::train {
namespace {

constexpr const char* kPage = " (docs/how-to/gpu.md)";
constexpr const char* kOnCpu = "train on the CPU with --set train.device=cpu";
constexpr int kNoDevice = 100, kDriverMismatch = 803;  // errors of CUDA's driver API

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// The first release of NVIDIA's driver for a major version of CUDA (CUDA compatibility guide); empty if unknown.
std::string oldest_driver(int cuda_major) {
  if (cuda_major == 12) return "525";
  if (cuda_major == 13) return "580";
  return "";
}

std::string name_of(const Gpu& gpu) { return gpu.name + " (" + gpu.architecture() + ")"; }

/// `supported`: the newest version of CUDA that the driver supports; 0 if unknown.
std::string old_driver_text(const CudaBuild& build, int supported) {
  std::string text = "the NVIDIA driver is too old";
  if (supported > 0) text += ": it supports CUDA " + cuda_version_text(supported);
  if (build.version > 0)
    text += std::string(supported > 0 ? ", but" : ":") + " LibTorch was built with CUDA " +
            cuda_version_text(build.version);
  const std::string oldest = oldest_driver(build.version / 1000);
  text += "; install a newer driver" + (oldest.empty() ? "" : " (" + oldest + " or newer)");
  return text + ", or a LibTorch for an older CUDA" + kPage;
}

std::string no_code_text(const CudaBuild& build, const std::string& gpu) {
  std::string text = "LibTorch has no code for " + gpu;
  std::string list;
  for (const std::string& name : build.architectures) list += (list.empty() ? "" : ", ") + name;
  if (!list.empty()) text += ": it was compiled for " + list;
  return text + "; install a LibTorch that supports this GPU" + kPage + ", or " + kOnCpu;
}

std::string no_driver_text() {
  return std::string("this machine has no NVIDIA driver; install the driver of the GPU") + kPage + ", or " + kOnCpu;
}

std::string no_gpu_text() {
  return std::string("the NVIDIA driver finds no GPU; compare `nvidia-smi -L` with CUDA_VISIBLE_DEVICES, or ") + kOnCpu;
}

std::string text_of_error(int error) {
  if (error == kNoDevice) return no_gpu_text();
  if (error == kDriverMismatch)
    return "the library of the NVIDIA driver does not match its kernel module; restart the machine, or install the "
           "driver again";
  return "the NVIDIA driver does not start (error " + std::to_string(error) + "); `nvidia-smi` may show the reason";
}

/// Reads "2.00 GiB" after `before`; 0 if the message does not have it.
int64_t bytes_after(std::string_view message, std::string_view before) {
  const size_t at = message.find(before);
  if (at == std::string_view::npos) return 0;
  const std::string_view rest = message.substr(at + before.size());
  double number = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (error != std::errc() || number < 0) return 0;
  const std::string_view unit = rest.substr(static_cast<size_t>(end - rest.data()));
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {" bytes", 1.0}, {" KiB", 1024.0}, {" MiB", 1048576.0}, {" GiB", 1073741824.0}};
  for (const auto& [name, bytes] : kUnits)
    if (unit.starts_with(name)) return static_cast<int64_t>(number * bytes);
  return 0;
}

}  // namespace

std::optional<std::string> gpu_problem(const CudaBuild& build, const std::optional<GpuDriver>& driver) {
  if (build.version == 0) {
    const std::string gpu = driver && !driver->gpus.empty() ? name_of(driver->gpus.front()) : "an NVIDIA GPU";
    return "LibTorch is a CPU build; to use " + gpu + ", install a CUDA build of LibTorch" + kPage;
  }
  if (!driver) return no_driver_text();
  if (driver->cuda / 1000 < build.version / 1000) return old_driver_text(build, driver->cuda);
  if (driver->error != 0) return text_of_error(driver->error);
  if (driver->gpus.empty()) return no_gpu_text();
  for (const Gpu& gpu : driver->gpus)
    if (!build.supports(gpu)) return no_code_text(build, name_of(gpu));
  return std::nullopt;
}

std::optional<std::string> gpu_problem() { return gpu_problem(cuda_build(), query_gpu_driver()); }

std::optional<GpuMemoryError> read_gpu_memory_error(std::string_view message) {
  // LibTorch's allocator, CUDA, and the libraries cuBLAS and cuDNN.
  if (!contains(message, "CUDA out of memory. ") && !contains(message, "CUDA error: out of memory") &&
      !contains(message, "_STATUS_ALLOC_FAILED"))
    return std::nullopt;
  GpuMemoryError error;
  error.wanted = bytes_after(message, "Tried to allocate ");
  error.capacity = bytes_after(message, "has a total capacity of ");
  const int64_t own = bytes_after(message, "this process has ");
  error.usable = own > 0 ? own + bytes_after(message, " of which ") : error.capacity;
  return error;
}

std::optional<std::string> gpu_error_text(std::string_view message, const CudaBuild& build) {
  if (const auto memory = read_gpu_memory_error(message)) {
    std::string text = "out of memory on the GPU";
    if (memory->wanted > 0) text += ": cannot allocate " + report::format_bytes(memory->wanted) + " more";
    if (memory->capacity > 0) text += "; the GPU has " + report::format_bytes(memory->capacity);
    // The driver has a part of the memory, too.
    if (static_cast<double>(memory->usable) < 0.95 * static_cast<double>(memory->capacity))
      text += ", but other programs leave " + report::format_bytes(memory->usable);
    return text;
  }
  if (contains(message, "no kernel image is available") || contains(message, "device kernel image is invalid"))
    return no_code_text(build, "this GPU");
  constexpr std::string_view kOld = "NVIDIA driver on your system is too old (found version ";
  if (const size_t at = message.find(kOld); at != std::string_view::npos)
    return old_driver_text(build, std::atoi(std::string(message.substr(at + kOld.size())).c_str()));
  if (contains(message, "CUDA driver version is insufficient") ||
      contains(message, "PTX was compiled with an unsupported toolchain"))
    return old_driver_text(build, /*supported=*/0);
  if (contains(message, "Found no NVIDIA driver")) return no_driver_text();
  if (contains(message, "no CUDA-capable device is detected")) return no_gpu_text();
  if (contains(message, "unsupported display driver / cuda driver combination")) return text_of_error(kDriverMismatch);
  return std::nullopt;
}

}  // namespace cachet::train
