#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace cachet::io {

/// Returns a file's contents: decompressed, with members joined, if the file begins as gzip or xz; else unchanged.
/// Throws io::Error, which names the file, if the file is truncated, corrupt, followed by other data, needs more than
/// 128 MiB to decompress, or holds more than `max_bytes`.
std::vector<uint8_t> read_decompressed(const std::filesystem::path& path, uint64_t max_bytes);

/// Decompresses bytes in memory as read_decompressed() does. `name` begins the messages.
std::vector<uint8_t> decompress(std::span<const uint8_t> bytes, uint64_t max_bytes, std::string_view name);

/// Passes the contents that read_decompressed() returns to `take`: in pieces of at most 1 MiB for a compressed file,
/// else as one piece. Needs as much memory as the file has bytes on the disk, plus 1 MiB.
void for_each_decompressed_piece(const std::filesystem::path& path, uint64_t max_bytes,
                                 const std::function<void(std::span<const uint8_t> piece)>& take);

}  // namespace cachet::io
