#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace cachet::io {

/// Returns the contents of a file. A gzip or xz file (known by its first bytes) is decompressed, and its members are
/// joined. Throws io::Error, which names the file, if the file is truncated or corrupt, if other data follow, if
/// decompression needs more than 128 MiB, or if the contents have more than `max_bytes`.
std::vector<uint8_t> read_decompressed(const std::filesystem::path& path, uint64_t max_bytes);

/// Returns the contents of a file in memory by the rules of read_decompressed(). Messages begin with `name`.
std::vector<uint8_t> decompress(std::span<const uint8_t> bytes, uint64_t max_bytes, std::string_view name);

/// Passes the contents of a file (see read_decompressed()) to `take`. `take` gets a compressed file in pieces of at
/// most 1 MiB, other files as one piece. Needs as much memory as the file has bytes on the disk, plus 1 MiB.
void for_each_decompressed_piece(const std::filesystem::path& path, uint64_t max_bytes,
                                 const std::function<void(std::span<const uint8_t> piece)>& take);

}  // namespace cachet::io
