#include "cachet/train/machine/memory_limit.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

namespace cachet::train {
namespace {

namespace fs = std::filesystem;

/// A number of /proc, given in kB, in bytes.
std::optional<int64_t> bytes_named(const fs::path& file, std::string_view wanted) {
  std::ifstream lines(file);
  for (std::string name, rest; lines >> name;) {
    int64_t kib = 0;
    if (name == wanted && lines >> kib) return kib * 1024;
    std::getline(lines, rest);
  }
  return std::nullopt;
}

/// What a group may still take, from the files of its limit and of its use, and the names of cached files in its
/// statistics.
std::optional<int64_t> bytes_left(const fs::path& limit_file, const fs::path& use_file, const fs::path& statistics,
                                  std::initializer_list<std::string_view> of_files) {
  int64_t most = 0, used = 0, files = 0;
  std::ifstream limit(limit_file), use(use_file), parts(statistics);
  if (!(limit >> most) || !(use >> used)) return std::nullopt;  // "max" is not a number
  constexpr int64_t kNoLimit = int64_t{1} << 60;                // version 1 writes 2^63 less a page
  if (most >= kNoLimit) return std::nullopt;
  std::string name;
  for (int64_t bytes = 0; parts >> name >> bytes;)
    if (std::ranges::find(of_files, name) != of_files.end()) files += bytes;
  return std::clamp<int64_t>(most - used + files, 0, most);
}

/// The paths of this process's groups as /proc has them: that of version 2, and that of version 1's memory.
struct OwnGroups {
  std::optional<std::string> second, first;
};

OwnGroups read_own_groups(const fs::path& file) {
  OwnGroups own;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    const size_t begin = line.find(':'), end = begin == std::string::npos ? begin : line.find(':', begin + 1);
    if (end == std::string::npos) continue;
    const std::string controllers = "," + line.substr(begin + 1, end - begin - 1) + ",", path = line.substr(end + 1);
    if (controllers == ",,") own.second = path;
    if (controllers.find(",memory,") != std::string::npos) own.first = path;
  }
  return own;
}

/// Calls `ask` with the folder of the group and those of all groups above it, and gives the least answer. In a
/// container, the group's own folder may be missing, and the first one is the container's.
template <class Ask>
std::optional<int64_t> least_left(const fs::path& root, const std::string& group, const Ask& ask) {
  std::optional<int64_t> least;
  fs::path folder = root;
  const auto take = [&] {
    if (const auto left = ask(folder)) least = std::min(least.value_or(*left), *left);
  };
  take();
  for (const fs::path& part : fs::path(group).relative_path()) {
    if (part == ".." || part.empty()) break;
    folder /= part;
    take();
  }
  return least;
}

/// "314572800", "300M", "300MiB" or "1.5 GiB" in bytes; nothing for other words.
std::optional<int64_t> bytes_of_word(std::string_view word) {
  double number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number, std::chars_format::fixed);
  if (error != std::errc() || !(number >= 0)) return std::nullopt;
  std::string_view unit = word.substr(static_cast<size_t>(end - word.data()));
  if (unit.starts_with(' ')) unit.remove_prefix(1);
  if (unit.size() == 3 && unit.ends_with("iB")) unit.remove_suffix(2);
  constexpr std::string_view kUnits = "KMGT";
  const size_t power = unit.size() == 1 ? kUnits.find(unit) : unit.empty() ? 0 : std::string_view::npos;
  if (power == std::string_view::npos) return std::nullopt;
  const double bytes = std::ldexp(number, unit.empty() ? 0 : 10 * (static_cast<int>(power) + 1));
  return bytes < 0x1p63 ? std::optional(static_cast<int64_t>(bytes)) : std::nullopt;
}

/// Of the variable, less what this process has already.
std::optional<int64_t> left_by_variable() {
  const char* text = std::getenv(kMemoryVariable);
  if (text == nullptr || *text == '\0') return std::nullopt;
  const std::optional<int64_t> bytes = bytes_of_word(text);
  if (!bytes)
    throw std::runtime_error(std::string(kMemoryVariable) +
                             " must be a number of bytes or a size such as 300M or 2GiB, but is \"" + text + "\"");
  return std::max<int64_t>(0, *bytes - resident_bytes());
}

}  // namespace

std::optional<int64_t> bytes_left_in_group(const fs::path& group) {
  return bytes_left(group / "memory.max", group / "memory.current", group / "memory.stat",
                    {"inactive_file", "active_file", "slab_reclaimable"});
}

std::optional<int64_t> bytes_left_in_first_group(const fs::path& group) {
  return bytes_left(group / "memory.limit_in_bytes", group / "memory.usage_in_bytes", group / "memory.stat",
                    {"total_inactive_file", "total_active_file"});
}

std::optional<int64_t> available_bytes(const MemoryFiles& files) {
  if (const auto left = left_by_variable()) return left;
  std::optional<int64_t> available = bytes_named(files.meminfo, "MemAvailable:");
  const auto take = [&](const std::optional<int64_t>& left) {
    if (left) available = std::min(available.value_or(*left), *left);
  };
  const OwnGroups own = read_own_groups(files.own_groups);
  take(least_left(files.groups, own.second.value_or(""), bytes_left_in_group));
  take(least_left(files.groups / "memory", own.first.value_or(""), bytes_left_in_first_group));
  return available;
}

int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  int64_t total = 0, resident = 0;
  file >> total >> resident;
  return file ? resident * sysconf(_SC_PAGESIZE) : 0;
}

void release_unused_memory() {
  using Mallctl = int (*)(const char* name, void* old_value, size_t* old_size, void* new_value, size_t new_size);
  constexpr const char* kAllArenas = "arena.4096.purge";  // jemalloc's MALLCTL_ARENAS_ALL
  if (const auto mallctl = reinterpret_cast<Mallctl>(dlsym(RTLD_DEFAULT, "mallctl")))
    mallctl(kAllArenas, nullptr, nullptr, nullptr, 0);
  malloc_trim(0);
}

AllocationLimit::AllocationLimit(int64_t bytes) {
  // Stacks of threads that start meanwhile. They use little of them.
  const int64_t stacks = (int64_t{8} << 20) * (8 + static_cast<int64_t>(std::thread::hardware_concurrency()));
  const std::optional<int64_t> allocated = bytes_named("/proc/self/status", "VmData:");
  rlimit limit{};
  if (!allocated || getrlimit(RLIMIT_DATA, &limit) != 0) return;
  rlim_t most = 0;
  if (__builtin_add_overflow(*allocated + stacks, std::max<int64_t>(0, bytes), &most) || most >= limit.rlim_cur) return;
  before_ = limit.rlim_cur;
  limit.rlim_cur = most;
  if (setrlimit(RLIMIT_DATA, &limit) != 0) before_.reset();
}

AllocationLimit::~AllocationLimit() {
  rlimit limit{};
  if (!before_ || getrlimit(RLIMIT_DATA, &limit) != 0) return;
  limit.rlim_cur = *before_;
  setrlimit(RLIMIT_DATA, &limit);
}

ResidentPeak::ResidentPeak() {
  const int file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  const bool forgotten = file >= 0 && write(file, "5", 1) == 1;  // the largest resident set becomes the present one
  if (file >= 0) close(file);
  if (!forgotten) before_ = bytes_named("/proc/self/status", "VmHWM:").value_or(0);
}

std::optional<int64_t> ResidentPeak::bytes() const {
  const std::optional<int64_t> peak = bytes_named("/proc/self/status", "VmHWM:");
  return peak && *peak > before_ ? peak : std::nullopt;
}

}  // namespace cachet::train
