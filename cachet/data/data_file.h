#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace cachet::data {

/// The path of `name` in a folder: as it is, or followed by .gz or .xz (tried in this order).
/// Throws io::Error that names the folder and the file when there is none.
std::filesystem::path find_data_file(const std::filesystem::path& folder, const std::string& name);
bool has_data_file(const std::filesystem::path& folder, const std::string& name);

/// A file's bytes, unpacked, and where they came from.
struct DataFile {
  std::filesystem::path path;
  std::vector<uint8_t> bytes;
};

/// Throws io::Error that names the file when it is missing, damaged, or holds more than `max_bytes`.
DataFile read_data_file(const std::filesystem::path& folder, const std::string& name, uint64_t max_bytes);

}  // namespace cachet::data
