#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace cachet::io {

/// The bytes of a gzip file (RFC 1952), all members joined. Throws io::Error as decompress() does.
std::vector<uint8_t> decompress_gzip(std::span<const uint8_t> bytes, uint64_t max_bytes, std::string_view name);

/// The bytes of an xz file, all streams joined, within 128 MiB of decoder memory. Throws io::Error as decompress()
/// does.
std::vector<uint8_t> decompress_xz(std::span<const uint8_t> bytes, uint64_t max_bytes, std::string_view name);

}  // namespace cachet::io
