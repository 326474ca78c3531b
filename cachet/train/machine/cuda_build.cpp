#include "cachet/train/machine/cuda_build.h"

#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <charconv>

namespace cachet::train {
namespace {

constexpr std::string_view kMachineCode = "sm_", kPortableCode = "compute_";

/// Whether code for an architecture runs on the GPU. Machine code runs on GPUs of the same major version. Code for
/// one architecture alone ends with a letter ("sm_90a").
bool runs_on(std::string_view architecture, const Gpu& gpu) {
  const bool is_portable = architecture.starts_with(kPortableCode);
  if (!is_portable && !architecture.starts_with(kMachineCode)) return false;
  architecture.remove_prefix(is_portable ? kPortableCode.size() : kMachineCode.size());
  int number = 0;
  const char* const last = architecture.data() + architecture.size();
  const auto [end, error] = std::from_chars(architecture.data(), last, number);
  if (error != std::errc()) return false;
  const int of_gpu = 10 * gpu.major + gpu.minor;
  if (end != last) return number == of_gpu;
  return number <= of_gpu && (is_portable || number / 10 == gpu.major);
}

}  // namespace

bool CudaBuild::supports(const Gpu& gpu) const {
  return architectures.empty() ||
         std::ranges::any_of(architectures, [&](const std::string& name) { return runs_on(name, gpu); });
}

int cuda_version() {
  const at::CUDAHooksInterface& hooks = at::detail::getCUDAHooks();
  return hooks.hasCUDART() ? static_cast<int>(hooks.versionCUDART()) : 0;
}

CudaBuild cuda_build() {
  CudaBuild build{.version = cuda_version(), .architectures = {}};
  if (build.version == 0) return build;
  try {
    build.architectures = architectures_in(at::detail::getCUDAHooks().showConfig());
  } catch (const c10::Error&) {  // LibTorch asks the driver, which is missing or too old
  }
  return build;
}

std::vector<std::string> architectures_in(std::string_view description) {
  constexpr std::string_view kLine = "NVCC architecture flags:", kCode = "code=";
  std::vector<std::string> found;
  const size_t begin = description.find(kLine);
  if (begin == std::string_view::npos) return found;
  const std::string_view line = description.substr(begin, description.find('\n', begin) - begin);
  for (size_t at = line.find(kCode); at != std::string_view::npos; at = line.find(kCode, at)) {
    at += kCode.size();
    const size_t end = std::min(line.find_first_of(";, \n", at), line.size());
    if (std::string name(line.substr(at, end - at)); std::ranges::find(found, name) == found.end())
      found.push_back(std::move(name));
  }
  return found;
}

}  // namespace cachet::train
