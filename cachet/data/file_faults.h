#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace cachet::data {

/// Faults of files, as far as they can be found without opening the files.
struct FileFaults {
  int64_t files = 0;    // number of files that were checked
  int64_t faulty = 0;   // number of files that are missing, empty, not regular or not readable
  std::string first{};  // path and fault of the first faulty file; empty if there is none
};

/// Counts the faults of files below a folder, with two calls to the file system for each file.
FileFaults faults_of_files(const std::filesystem::path& folder, std::span<const std::string> names);

}  // namespace cachet::data
