#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "cachet/io/files/growing_file.h"

namespace cachet::io {

/// Writes a tar archive of regular files in the format ustar. Equal members give equal bytes.
class TarWriter {
 public:
  /// Creates the file, which must not exist. Throws Error, like all members, if the file cannot be written.
  explicit TarWriter(const std::filesystem::path& path, FileSystem& file_system = FileSystem::real());

  /// Appends a file. Throws std::invalid_argument unless the name has 1 to 100 bytes.
  void add(std::string_view name, std::span<const std::byte> bytes);
  /// Returns the size of the archive, which includes its end, if finish() were called now.
  uint64_t size() const;
  /// Returns the size() that the archive would have with further files of `sizes` bytes each.
  uint64_t size_with(std::span<const uint64_t> sizes) const;
  /// Writes the end of the archive, and calls fsync.
  void finish();

 private:
  GrowingFile file_;
  uint64_t written_ = 0;
};

}  // namespace cachet::io
