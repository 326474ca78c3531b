#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace cachet::data {

/// What a look at files shows without opening them.
struct FileFaults {
  int64_t files = 0;    // that were looked at
  int64_t faulty = 0;   // that are not there, are empty, are not regular files, or may not be read
  std::string first{};  // the path and the fault of the first of these; empty if there are none
};

/// The faults of files below a folder. Makes two calls to the file system for each file.
FileFaults faults_of_files(const std::filesystem::path& folder, std::span<const std::string> names);

}  // namespace cachet::data
