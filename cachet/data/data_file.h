#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace cachet::data {

/// Returns the path of the first existing file of `name`, `name`.gz and `name`.xz in a folder. Throws io::Error, which
/// names the folder and the file, if none of these files exists.
std::filesystem::path find_data_file(const std::filesystem::path& folder, const std::string& name);
bool has_data_file(const std::filesystem::path& folder, const std::string& name);

/// The unpacked bytes of a file, and its path.
struct DataFile {
  std::filesystem::path path;
  std::vector<uint8_t> bytes;
};

/// Reads and unpacks a file. Throws io::Error with the path for missing or damaged files, and above `max_bytes`.
DataFile read_data_file(const std::filesystem::path& folder, const std::string& name, uint64_t max_bytes);

}  // namespace cachet::data
