#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace cachet::train {

/// Where the system reports memory. Tests give files of their own.
struct MemoryFiles {
  std::filesystem::path meminfo = "/proc/meminfo";
  std::filesystem::path own_groups = "/proc/self/cgroup";
  std::filesystem::path groups = "/sys/fs/cgroup";
};

/// The environment variable with the bytes of memory that a process may have, instead of what the system reports.
inline constexpr const char* kMemoryVariable = "CACHET_MEMORY_LIMIT";

/// Bytes of memory that this process can still take: the least of what the machine has free and of what the control
/// groups of the process (version 1 or 2) and those above them leave. If kMemoryVariable is set, what it leaves.
/// Nothing if the system reports none of them. Throws std::runtime_error if the variable does not have a number of
/// bytes.
std::optional<int64_t> available_bytes(const MemoryFiles& files = {});

/// Bytes that a control group (version 2, given by its folder) may still take, with those of cached files, which the
/// kernel gives up for others. Nothing if the group has no limit.
std::optional<int64_t> bytes_left_in_group(const std::filesystem::path& group);

/// The same of a control group of version 1.
std::optional<int64_t> bytes_left_in_first_group(const std::filesystem::path& group);

/// Bytes that this process has in memory now (its resident set).
int64_t resident_bytes();

/// While it lives, this process can allocate about so many bytes more. Further allocations fail, as they do if memory
/// is short; without a limit, the kernel may end the process instead. Does nothing if the system has no such limit.
class AllocationLimit {
 public:
  explicit AllocationLimit(int64_t bytes);
  AllocationLimit(const AllocationLimit&) = delete;
  AllocationLimit& operator=(const AllocationLimit&) = delete;
  ~AllocationLimit();

 private:
  std::optional<uint64_t> before_;
};

/// Gives memory that the allocator keeps, and that nothing uses, back to the system.
void release_unused_memory();

/// While it lives, the largest resident set of this process. Only one may live at a time.
class ResidentPeak {
 public:
  ResidentPeak();
  /// Nothing if the system does not report it.
  std::optional<int64_t> bytes() const;

 private:
  int64_t before_ = 0;  // the largest before this began, where that could not be forgotten
};

}  // namespace cachet::train
