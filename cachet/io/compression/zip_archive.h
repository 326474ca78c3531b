#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/io/files/byte_source.h"

namespace cachet::io {

/// A member of a zip archive, stored uncompressed.
struct ZipMember {
  std::string name;
  uint64_t begin = 0;  // position of the member's bytes in the archive
  uint64_t size = 0;
  uint32_t crc = 0;
};

/// The limits of the zip reader, in addition to the limits of the zip format.
struct ZipLimits {
  uint64_t members = 100'000;
  uint64_t directory_bytes = uint64_t{32} << 20;
  size_t name_bytes = 1024;
};

/// Reads the zip archives of torch.save. An archive of torch.save has uncompressed members without gaps, followed by
/// one directory (zip or zip64). LibTorch's PyTorchStreamReader is not used: its zip library tolerates gaps, duplicates
/// and headers that contradict the directory, so two readers may see different files. All functions throw io::Error,
/// which names the file, the member and the fault: compression, encryption, duplicate names, names that lead out of a
/// folder, links, a local header that differs from the directory, or bytes that belong to no member.
class ZipArchive {
 public:
  /// `source` must outlive the archive. Error messages begin with `name`.
  ZipArchive(const ByteSource& source, std::string name, const ZipLimits& limits = {});

  const std::string& name() const { return name_; }
  const std::vector<ZipMember>& members() const { return members_; }  // members in the order of their bytes
  const ZipMember* find(std::string_view member) const;               // null if there is no such member

  /// Reads a member into `bytes`, which must have the member's size, and verifies the CRC-32.
  void read(const ZipMember& member, std::span<std::byte> bytes) const;

 private:
  const ByteSource& source_;
  std::string name_;
  std::vector<ZipMember> members_;
  std::map<std::string, size_t, std::less<>> by_name_;
};

}  // namespace cachet::io
