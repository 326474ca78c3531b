#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cachet/train/machine/cuda_build.h"
#include "cachet/train/machine/gpu_driver.h"

namespace cachet::train {

/// Returns one line with the reason why LibTorch cannot use a GPU of this machine, and what to do. `driver` is
/// std::nullopt if this machine has no driver. Returns std::nullopt if LibTorch can use each GPU.
std::optional<std::string> gpu_problem(const CudaBuild& build, const std::optional<GpuDriver>& driver);

/// Returns this line for this machine and the loaded LibTorch.
std::optional<std::string> gpu_problem();

/// Returns one line with the cause and the remedy for a message of an error of CUDA: a missing driver, a driver that is
/// too old, a GPU for which LibTorch has no code, and exhausted memory. Returns std::nullopt for other messages.
std::optional<std::string> gpu_error_text(std::string_view message, const CudaBuild& build);

/// The sizes in LibTorch's message about exhausted memory of a GPU, in bytes. 0 stands for a size that the message does
/// not have.
struct GpuMemoryError {
  int64_t wanted = 0;    // the allocation that failed
  int64_t capacity = 0;  // memory of the GPU
  int64_t usable = 0;    // memory that this process has and the free memory, without the memory of other processes
};

/// Reads LibTorch's message about exhausted memory of a GPU, such as "CUDA out of memory. Tried to allocate 2.00 GiB.
/// …". Returns std::nullopt for other messages.
std::optional<GpuMemoryError> read_gpu_memory_error(std::string_view message);

}  // namespace cachet::train
