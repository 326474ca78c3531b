#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cachet/io/compression/zip_archive.h"
#include "cachet/io/files/byte_source.h"

namespace cachet::io {

/// The entry of a member in the directory, which is at the end of a zip archive.
struct ZipEntry {
  std::string name;
  uint16_t flags = 0;
  uint32_t crc = 0;
  uint64_t size = 0;    // number of the member's bytes, which are not compressed
  uint64_t header = 0;  // position of the member's local header
};

struct ZipDirectory {
  std::vector<ZipEntry> entries;
  uint64_t begin = 0;  // position of the directory; the members must end there
};

/// Finds, reads and checks the central directory of a zip archive, but not the headers of the members. Throws
/// io::Error.
ZipDirectory read_zip_directory(const ByteSource& source, const std::string& file, const ZipLimits& limits);

/// The only flags that torch.save sets for a member of its zip archive: the sizes follow the member's bytes, and the
/// name is UTF-8.
constexpr uint16_t kZipSizesBehind = 1U << 3, kZipNameIsUtf8 = 1U << 11;

}  // namespace cachet::io
