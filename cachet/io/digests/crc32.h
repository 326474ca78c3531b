#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace cachet::io {

/// The CRC-32 of bytes as zip, gzip and PNG have it; `before` is that of the bytes before them.
uint32_t crc32(std::span<const std::byte> bytes, uint32_t before = 0);

}  // namespace cachet::io
