#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace cachet::train {

/// The paths at which the system reports memory. Tests replace the paths of the system by paths of their own.
struct MemoryFiles {
  std::filesystem::path meminfo = "/proc/meminfo";
  std::filesystem::path own_groups = "/proc/self/cgroup";
  std::filesystem::path groups = "/sys/fs/cgroup";
};

/// The environment variable with the number of bytes that a process may use. It replaces the system's limits.
inline constexpr const char* kMemoryVariable = "CACHET_MEMORY_LIMIT";

/// Returns the number of bytes of memory that this process can still take: the smaller of the machine's free memory and
/// the memory that the process's control groups (version 1 or 2) and their parent groups leave. If the environment
/// variable kMemoryVariable sets a limit, returns the number of bytes that are left of this limit. Returns std::nullopt
/// if the system reports no limit. Throws std::runtime_error if the variable is not a number of bytes.
std::optional<int64_t> available_bytes(const MemoryFiles& files = {});

/// Returns the bytes that a control group (version 2, given by its folder) may still take. Cached files count as free,
/// because the kernel drops them if memory is needed. Returns std::nullopt if the control group has no limit of memory.
std::optional<int64_t> bytes_left_in_group(const std::filesystem::path& group);

/// Returns the bytes that a control group of version 1 may still take.
std::optional<int64_t> bytes_left_in_first_group(const std::filesystem::path& group);

/// Returns the number of bytes that this process has in memory now (its resident set).
int64_t resident_bytes();

/// Limits further allocations of this process to about `bytes` bytes during the object's lifetime. Larger allocations
/// fail. Without an AllocationLimit, the kernel may end the process instead of refusing an allocation. Does nothing if
/// the system cannot limit allocations.
class AllocationLimit {
 public:
  explicit AllocationLimit(int64_t bytes);
  AllocationLimit(const AllocationLimit&) = delete;
  AllocationLimit& operator=(const AllocationLimit&) = delete;
  ~AllocationLimit();

 private:
  std::optional<uint64_t> before_;
};

/// Returns the unused memory of the allocator to the system.
void release_unused_memory();

/// Measures the largest resident set of this process during the object's lifetime. Only one ResidentPeak object may
/// exist at a time.
class ResidentPeak {
 public:
  ResidentPeak();
  /// Returns the largest resident set in bytes, or std::nullopt if the system does not report it.
  std::optional<int64_t> bytes() const;

 private:
  int64_t before_ = 0;  // largest set before this object; 0 if the system could reset it
};

}  // namespace cachet::train
