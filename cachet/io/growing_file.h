#pragma once

#include <filesystem>
#include <string_view>

#include "cachet/io/file_system.h"

namespace cachet::io {

/// A file that only grows. What one call appends is one write, so that a process that dies leaves whole records and at
/// most one torn one.
class GrowingFile {
 public:
  /// Opens the file behind what it holds, or makes it. All members throw Error that names the path.
  explicit GrowingFile(std::filesystem::path path, FileSystem& file_system = FileSystem::real());
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;
  ~GrowingFile();

  void append(std::string_view record);
  void sync();  // to the disk

 private:
  std::filesystem::path path_;
  FileSystem& file_system_;
  int file_;
};

}  // namespace cachet::io
