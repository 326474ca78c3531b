#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "cachet/io/files/byte_source.h"

namespace cachet::io {

/// A regular file in an uncompressed tar archive.
struct TarMember {
  std::string name;    // a relative path without ".." and without "./" at the beginning
  uint64_t begin = 0;  // position of the member's first byte in the archive
  uint64_t size = 0;   // in bytes
};

/// The limits of the tar reader, in addition to those of libarchive.
struct TarLimits {
  uint64_t members = 20'000'000;
  size_t name_bytes = 1024;
};

/// Calls `use` for each regular file of a tar archive, in order. Reads only the headers of the members, with
/// libarchive. Folders are ignored. Throws io::Error, which names the archive, the member and the fault, for:
///
/// - a compressed archive, a damaged or truncated archive, and bytes after the end of the archive
/// - a member that is a link, a device or a sparse file
/// - a name that is absolute, that contains "..", or that has control characters
/// - a member that reaches beyond the end of the archive, and a member whose headers state different sizes
///
/// No memory is allocated for a member. Error messages begin with `name`.
void for_each_tar_member(const ByteSource& source, const std::string& name,
                         const std::function<void(TarMember&& member)>& use, const TarLimits& limits = {});

}  // namespace cachet::io
