#pragma once

#include <malloc.h>

#include <cstdint>
#include <fstream>
#include <string>

namespace cachet::test {

/// Peak resident memory since reset_peak_memory(), in bytes, of the whole process (Linux: VmHWM of /proc/self/status).
inline uint64_t peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6)) * 1024;
  }
  return 0;
}

/// Sets the peak to what is resident now; false where the kernel does not allow it.
inline bool reset_peak_memory() {
  malloc_trim(0);
  std::ofstream refs("/proc/self/clear_refs");
  refs << 5 << std::flush;
  return refs.good();
}

}  // namespace cachet::test
