#include "cachet/data/data_file.h"

#include <array>
#include <optional>

#include "cachet/io/compression/compressed.h"
#include "cachet/io/error.h"

namespace cachet::data {
namespace {

std::optional<std::filesystem::path> existing_data_file(const std::filesystem::path& folder, const std::string& name) {
  for (const char* ending : {"", ".gz", ".xz"}) {
    std::error_code unreadable;  // then the file is as good as missing
    std::filesystem::path path = folder / (name + ending);
    if (std::filesystem::exists(path, unreadable)) return path;
  }
  return std::nullopt;
}

}  // namespace

std::filesystem::path find_data_file(const std::filesystem::path& folder, const std::string& name) {
  if (auto path = existing_data_file(folder, name)) return *path;
  throw io::Error("there is no " + name + " (plain, .gz or .xz) in " + folder.string());
}

bool has_data_file(const std::filesystem::path& folder, const std::string& name) {
  return existing_data_file(folder, name).has_value();
}

DataFile read_data_file(const std::filesystem::path& folder, const std::string& name, uint64_t max_bytes) {
  const std::filesystem::path path = find_data_file(folder, name);
  return {path, io::read_decompressed(path, max_bytes)};
}

}  // namespace cachet::data
