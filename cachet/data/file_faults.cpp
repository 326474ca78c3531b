#include "cachet/data/file_faults.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <vector>

#include "cachet/data/many_files.h"

namespace cachet::data {
namespace {

std::string opening_failed() { return "opening failed: " + std::generic_category().message(errno); }

/// In the words of the reader of files; empty of a file without a fault.
std::string fault_of(const std::filesystem::path& file) {
  struct stat found {};
  if (::stat(file.c_str(), &found) != 0) return opening_failed();
  if (S_ISDIR(found.st_mode)) return "is a folder";
  if (!S_ISREG(found.st_mode)) return "is not a regular file";
  if (found.st_size == 0) return "the file is empty";
  if (::faccessat(AT_FDCWD, file.c_str(), R_OK, AT_EACCESS) != 0) return opening_failed();
  return {};
}

}  // namespace

FileFaults faults_of_files(const std::filesystem::path& folder, std::span<const std::string> names) {
  std::vector<std::string> faults(names.size());
  look_at_files(names.size(), [&](size_t i) { faults[i] = fault_of(folder / names[i]); });
  FileFaults found{.files = static_cast<int64_t>(names.size())};
  const auto has_fault = [](const std::string& fault) { return !fault.empty(); };
  found.faulty = std::ranges::count_if(faults, has_fault);
  if (const auto first = std::ranges::find_if(faults, has_fault); first != faults.end())
    found.first = (folder / names[static_cast<size_t>(first - faults.begin())]).string() + ": " + *first;
  return found;
}

}  // namespace cachet::data
