#pragma once

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace cachet::config {

/// The error for a file that cannot be read; what() is the reason, without the file's name.
class UnreadableFile : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Reads the bytes of a regular file of at most `most_bytes`. If the path is a pipe or a device, throws an error
/// without waiting.
std::string read_text_file(const std::filesystem::path& path, int64_t most_bytes);

}  // namespace cachet::config
