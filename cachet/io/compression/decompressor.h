#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "cachet/io/compression/growing_output.h"

namespace cachet::io {

/// Decompresses a gzip file (RFC 1952) to `output`, and joins its members. If the compressed file is faulty, throws
/// io::Error.
void decompress_gzip(std::span<const uint8_t> bytes, GrowingOutput& output, std::string_view name);

/// Decompresses an xz file to `output`, and joins its parts. The decoder uses at most 128 MiB of memory. If the
/// compressed file is faulty, throws io::Error.
void decompress_xz(std::span<const uint8_t> bytes, GrowingOutput& output, std::string_view name);

}  // namespace cachet::io
