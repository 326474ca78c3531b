#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace cachet::io {

/// Returns the checksum CRC-32 that zip, gzip and PNG use. If the data come in several pieces, `before` is the CRC-32
/// of the preceding pieces.
uint32_t crc32(std::span<const std::byte> bytes, uint32_t before = 0);

}  // namespace cachet::io
