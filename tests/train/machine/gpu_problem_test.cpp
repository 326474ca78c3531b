#include "cachet/train/machine/gpu_problem.h"

#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "cachet/train/machine/error_message.h"
#include "tests/support/temporary_directory.h"

namespace cachet::train {
namespace {

const CudaBuild kCuda13{.version = 13000, .architectures = {"sm_75", "sm_80", "sm_90", "compute_90"}};

// The messages of errors are those of LibTorch 2.11.0+cu130. Its functions gave the first four on a machine without a
// GPU (the fourth with a driver library that reported CUDA 12.2); the messages of the allocators are from public
// reports.
const std::string kTail =
    "CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be "
    "incorrect.\nFor debugging consider passing CUDA_LAUNCH_BLOCKING=1\nDevice-side assertions were explicitly omitted "
    "for this error check; the error probably arose while initializing the DSA handlers.\n";
const std::string kNoKernel =
    "CUDA error: no kernel image is available for execution on the device\nSearch for "
    "`cudaErrorNoKernelImageForDevice' "
    "in https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html for more information.\n" +
    kTail;
const std::string kInsufficient =
    "CUDA error: CUDA driver version is insufficient for CUDA runtime version\nSearch for "
    "`cudaErrorInsufficientDriver' "
    "in https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html for more information.\n" +
    kTail;
const std::string kNoDriver =
    "Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a driver from "
    "http://www.nvidia.com/Download/index.aspx";
const std::string kOldDriver =
    "The NVIDIA driver on your system is too old (found version 12020). Please update your GPU driver by downloading "
    "and installing a new version from the URL: http://www.nvidia.com/Download/index.aspx Alternatively, go to: "
    "https://pytorch.org to install a PyTorch version that has been compiled with your version of the CUDA driver.";
const std::string kShared =
    "CUDA out of memory. Tried to allocate 1.95 GiB. GPU 0 has a total capacity of 14.57 GiB of which 1.58 GiB is "
    "free. "
    "Process 2493055 has 12.02 GiB memory in use. Including non-PyTorch memory, this process has 966.00 MiB memory in "
    "use. Of the allocated memory 734.07 MiB is allocated by PyTorch, and 33.93 MiB is reserved by PyTorch but "
    "unallocated. If reserved but unallocated memory is large try setting PYTORCH_ALLOC_CONF=expandable_segments:True "
    "to avoid fragmentation.  See documentation for Memory Management  "
    "(https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)";
const std::string kCublas = "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`";

constexpr int64_t kMiB = int64_t{1} << 20;

TEST(GpuErrorText, HasTheRemedyOfEachError) {
  const auto text = [](const std::string& message) { return gpu_error_text(message, kCuda13).value_or("(none)"); };
  const std::string page = " (docs/how-to/gpu.md)";
  const std::string on_cpu = ", or train on the CPU with --set train.device=cpu";
  EXPECT_EQ(text(kNoKernel),
            "LibTorch has no code for this GPU: it was compiled for sm_75, sm_80, sm_90, compute_90; "
            "install a LibTorch that supports this GPU" +
                page + on_cpu);
  EXPECT_EQ(text(kOldDriver),
            "the NVIDIA driver is too old: it supports CUDA 12.2, but LibTorch was built with CUDA "
            "13.0; install a newer driver (580 or newer), or a LibTorch for an older CUDA" +
                page);
  EXPECT_EQ(text(kInsufficient),
            "the NVIDIA driver is too old: LibTorch was built with CUDA 13.0; install a newer driver "
            "(580 or newer), or a LibTorch for an older CUDA" +
                page);
  EXPECT_EQ(text(kNoDriver), "this machine has no NVIDIA driver; install the driver of the GPU" + page + on_cpu);
  EXPECT_EQ(text(kShared),
            "out of memory on the GPU: cannot allocate 1.9 GiB more; the GPU has 14.6 GiB, but other "
            "programs leave 2.5 GiB");
  EXPECT_EQ(text(kCublas), "out of memory on the GPU");
  EXPECT_EQ(text("CUDA error: an illegal memory access was encountered\n" + kTail), "(none)");
  EXPECT_EQ(text("mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)"), "(none)");
}

TEST(GpuErrorText, IsTheMessageOfAnError) {
  const auto message_of = [](const std::string& text) {
    try {
      TORCH_CHECK_WITH(OutOfMemoryError, false, text);
    } catch (const std::exception& error) {
      return error_message(error);
    }
    return std::string();
  };
  EXPECT_TRUE(message_of(kShared).starts_with("out of memory on the GPU: cannot allocate 1.9 GiB more"))
      << message_of(kShared);
  EXPECT_EQ(message_of("another error\nwith details"), "another error");
}

TEST(GpuMemoryError, HasTheSizesOfTheMessage) {
  const GpuMemoryError shared = read_gpu_memory_error(kShared).value();
  EXPECT_EQ(shared.wanted, static_cast<int64_t>(1.95 * 1024 * kMiB));
  EXPECT_EQ(shared.capacity, static_cast<int64_t>(14.57 * 1024 * kMiB));
  EXPECT_EQ(shared.usable, 966 * kMiB + static_cast<int64_t>(1.58 * 1024 * kMiB));
  const GpuMemoryError alone = read_gpu_memory_error(
                                   "CUDA out of memory. Tried to allocate 512 bytes. GPU 1 has a "
                                   "total capacity of 6.00 GiB of which 0 bytes is free.")
                                   .value();
  EXPECT_EQ(alone.wanted, 512);
  EXPECT_EQ(alone.usable, 6 * 1024 * kMiB);
  const GpuMemoryError bare = read_gpu_memory_error(kCublas).value();
  EXPECT_EQ(bare.wanted, 0);
  EXPECT_EQ(bare.usable, 0);
  EXPECT_EQ(read_gpu_memory_error("[enforce fail] can't allocate memory: you tried to allocate 9 bytes."),
            std::nullopt);
}

TEST(GpuProblem, IsFoundInTheFactsOfBuildAndDriver) {
  const Gpu hopper{.name = "NVIDIA H200", .major = 9, .minor = 0, .memory_bytes = 1}, pascal{"NVIDIA P100", 6, 0, 1};
  const auto text = [](const CudaBuild& build, const std::optional<GpuDriver>& driver) {
    return gpu_problem(build, driver).value_or("(none)");
  };
  EXPECT_EQ(text(kCuda13, GpuDriver{13000, 0, {hopper}}), "(none)");
  EXPECT_EQ(text(kCuda13, GpuDriver{13020, 0, {hopper}}), "(none)");
  EXPECT_TRUE(text({}, std::nullopt).starts_with("LibTorch is a CPU build; to use an NVIDIA GPU, install "));
  EXPECT_TRUE(
      text({}, GpuDriver{13000, 0, {hopper}}).starts_with("LibTorch is a CPU build; to use NVIDIA H200 (sm_90), "));
  EXPECT_TRUE(text(kCuda13, std::nullopt).starts_with("this machine has no NVIDIA driver; "));
  EXPECT_TRUE(text(kCuda13, GpuDriver{12090, 0, {hopper}})
                  .starts_with("the NVIDIA driver is too old: it supports CUDA 12.9, "));
  // A driver of CUDA 12.4 runs programs of CUDA 12.9: versions of the same major number are compatible.
  EXPECT_EQ(text({12090, {"sm_90"}}, GpuDriver{12040, 0, {hopper}}), "(none)");
  EXPECT_TRUE(text(kCuda13, GpuDriver{13000, 100, {}}).starts_with("the NVIDIA driver finds no GPU; "));
  EXPECT_TRUE(text(kCuda13, GpuDriver{13000, 0, {}}).starts_with("the NVIDIA driver finds no GPU; "));
  EXPECT_NE(text(kCuda13, GpuDriver{13000, 803, {}}).find("restart the machine"), std::string::npos);
  EXPECT_NE(text(kCuda13, GpuDriver{13000, 999, {}}).find("(error 999)"), std::string::npos);
  EXPECT_TRUE(text(kCuda13, GpuDriver{13000, 0, {hopper, pascal}})
                  .starts_with("LibTorch has no code for NVIDIA P100 (sm_60): it was compiled for sm_75, "));
}

TEST(CudaBuild, SupportsGpusOfItsArchitectures) {
  const auto supports = [](std::vector<std::string> architectures, int major, int minor) {
    return CudaBuild{13000, std::move(architectures)}.supports({"", major, minor, 0});
  };
  EXPECT_TRUE(supports({"sm_80"}, 8, 0));
  EXPECT_TRUE(supports({"sm_80"}, 8, 6)) << "machine code runs on later GPUs of the same major version";
  EXPECT_FALSE(supports({"sm_86"}, 8, 0));
  EXPECT_FALSE(supports({"sm_80"}, 9, 0));
  EXPECT_TRUE(supports({"compute_80"}, 9, 0)) << "the driver compiles it";
  EXPECT_FALSE(supports({"compute_90"}, 8, 0));
  EXPECT_TRUE(supports({"sm_100"}, 10, 3));
  EXPECT_FALSE(supports({"sm_100"}, 12, 0));
  EXPECT_TRUE(supports({"sm_90a"}, 9, 0));
  EXPECT_FALSE(supports({"sm_100a"}, 10, 3));
  EXPECT_FALSE(supports({"gfx90a", "sm_"}, 9, 0));
  EXPECT_TRUE(supports({}, 6, 0)) << "unknown";
}

TEST(CudaBuild, ReadsLibTorchsDescription) {
  // From the libtorch_cuda.so of 2.11.0+cu130.
  EXPECT_EQ(architectures_in(
                "  - CUDA Runtime 13.0\n  - NVCC architecture flags: -gencode;arch=compute_75,code=sm_75;-gencode;"
                "arch=compute_80,code=sm_80;-gencode;arch=compute_120,code=sm_120\n  - CuDNN 91.9\n"),
            (std::vector<std::string>{"sm_75", "sm_80", "sm_120"}));
  EXPECT_EQ(architectures_in("  - NVCC architecture flags: -gencode;arch=compute_86,code=compute_86"),
            (std::vector<std::string>{"compute_86"}));
  EXPECT_TRUE(architectures_in("PyTorch built with:\n  - GCC 13.3\n").empty());
}

TEST(GpuDriver, HasTheVersionOfItsKernelModule) {
  const test::TemporaryDirectory folder;
  EXPECT_EQ(gpu_driver_version(folder.path()), "");
  std::ofstream(folder.path() / "version") << "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  "
                                              "Release Build  (dvs-builder@U22)  Tue Sep 23\n"
                                              "GCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n";
  EXPECT_EQ(gpu_driver_version(folder.path()), "580.95.05");
  EXPECT_EQ(cuda_version_text(12020), "12.2");
  EXPECT_EQ((Gpu{"", 10, 3, 0}).architecture(), "sm_103");
}

}  // namespace
}  // namespace cachet::train
