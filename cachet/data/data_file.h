#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace cachet::data {

/// Returns the path of the first existing file of `name`, `name`.gz and `name`.xz in a folder. Throws io::Error, which
/// names the folder and the file, if the folder has neither `name` nor `name`.gz nor `name`.xz.
std::filesystem::path find_data_file(const std::filesystem::path& folder, const std::string& name);
bool has_data_file(const std::filesystem::path& folder, const std::string& name);

/// The unpacked bytes of a file, and its path.
struct DataFile {
  std::filesystem::path path;
  std::vector<uint8_t> bytes;
};

/// Reads and unpacks a file. If a file is missing, damaged or larger than `max_bytes`, throws io::Error with the path.
DataFile read_data_file(const std::filesystem::path& folder, const std::string& name, uint64_t max_bytes);

}  // namespace cachet::data
