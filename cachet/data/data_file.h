#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace cachet::data {

/// Finds `name` in a folder: without an ending, or followed by .gz or .xz (tried in this order). Returns its path.
/// Throws io::Error that names the folder and the file if none of them exists.
std::filesystem::path find_data_file(const std::filesystem::path& folder, const std::string& name);
bool has_data_file(const std::filesystem::path& folder, const std::string& name);

/// The unpacked bytes of a file, and its path.
struct DataFile {
  std::filesystem::path path;
  std::vector<uint8_t> bytes;
};

/// Throws io::Error that names the file when it is missing, damaged, or holds more than `max_bytes`.
DataFile read_data_file(const std::filesystem::path& folder, const std::string& name, uint64_t max_bytes);

}  // namespace cachet::data
