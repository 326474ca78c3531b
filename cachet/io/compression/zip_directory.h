#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cachet/io/compression/zip_archive.h"
#include "cachet/io/files/byte_source.h"

namespace cachet::io {

/// The entry of a member in the directory at the end of a zip archive.
struct ZipEntry {
  std::string name;
  uint16_t flags = 0;
  uint32_t crc = 0;
  uint64_t size = 0;    // stored: of the member and of its bytes in the file
  uint64_t header = 0;  // where its local header begins
};

struct ZipDirectory {
  std::vector<ZipEntry> entries;
  uint64_t begin = 0;  // of the directory in the file: where the members must end
};

/// Finds and checks the directory; the members' own headers are not read. Throws io::Error.
ZipDirectory read_zip_directory(const ByteSource& source, const std::string& file, const ZipLimits& limits);

/// The bits of a member's flags that torch.save sets, and no other: sizes are after the bytes, the name is UTF-8.
constexpr uint16_t kZipSizesBehind = 1U << 3, kZipNameIsUtf8 = 1U << 11;

}  // namespace cachet::io
