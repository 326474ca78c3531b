#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace cachet::io {

/// Returns a file's contents, decompressed if its first bytes are those of gzip or xz (members that follow each other
/// are joined); any other file as it is. Throws io::Error that names the file if it is truncated, corrupt, followed by
/// other data, needs more than 128 MiB to decompress, or holds more than `max_bytes`.
std::vector<uint8_t> read_decompressed(const std::filesystem::path& path, uint64_t max_bytes);

/// Decompresses bytes in memory in the same way. `name` begins the messages.
std::vector<uint8_t> decompress(std::span<const uint8_t> bytes, uint64_t max_bytes, std::string_view name);

/// Passes the same contents to `take` in pieces: of at most 1 MiB if the file is compressed, else as one piece. Uses as
/// much memory as the file has bytes on the disk, plus 1 MiB.
void for_each_decompressed_piece(const std::filesystem::path& path, uint64_t max_bytes,
                                 const std::function<void(std::span<const uint8_t> piece)>& take);

}  // namespace cachet::io
