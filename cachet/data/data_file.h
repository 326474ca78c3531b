#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace cachet::data {

/// Finds `name` in a folder, without an ending or followed by .gz or .xz (tried in this order), and returns its path.
/// Throws io::Error, which names the folder and the file, if none of these files exists.
std::filesystem::path find_data_file(const std::filesystem::path& folder, const std::string& name);
bool has_data_file(const std::filesystem::path& folder, const std::string& name);

/// The unpacked bytes of a file, and its path.
struct DataFile {
  std::filesystem::path path;
  std::vector<uint8_t> bytes;
};

/// Throws io::Error, which names the file, if it is missing, damaged or larger than `max_bytes` when unpacked.
DataFile read_data_file(const std::filesystem::path& folder, const std::string& name, uint64_t max_bytes);

}  // namespace cachet::data
