#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "cachet/io/compression/growing_output.h"

namespace cachet::io {

/// Writes the bytes of a gzip file (RFC 1952), all members joined. Throws io::Error as decompress() does.
void decompress_gzip(std::span<const uint8_t> bytes, GrowingOutput& output, std::string_view name);

/// Writes the bytes of an xz file, all streams joined, within 128 MiB of decoder memory. Throws io::Error as
/// decompress() does.
void decompress_xz(std::span<const uint8_t> bytes, GrowingOutput& output, std::string_view name);

}  // namespace cachet::io
