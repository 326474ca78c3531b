#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cachet/train/machine/gpu_driver.h"

namespace cachet::train {

/// The CUDA part of a LibTorch.
struct CudaBuild {
  int version = 0;  // version of CUDA with which LibTorch was built: 13000 for CUDA 13.0; 0 for a CPU build
  // GPU architectures for which LibTorch was compiled: "sm_90" is machine code, "compute_90" is code that the driver
  // compiles for newer GPUs. Empty if LibTorch does not report them: LibTorch reports them only if the driver works.
  std::vector<std::string> architectures;

  /// Whether LibTorch has code for the GPU, or does not report its architectures.
  bool supports(const Gpu& gpu) const;
};

/// Returns the version of CUDA with which the loaded LibTorch was built, as CudaBuild::version.
int cuda_version();

/// Returns the CUDA part of the loaded LibTorch. With a CUDA build, this call starts NVIDIA's driver.
CudaBuild cuda_build();

/// Returns the architectures in the line "NVCC architecture flags" of LibTorch's description of its build:
/// "-gencode;arch=compute_80,code=sm_80;-gencode;arch=compute_90,code=compute_90" has "sm_80" and "compute_90".
std::vector<std::string> architectures_in(std::string_view description);

}  // namespace cachet::train
