#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace cachet::io {

/// A file's contents, decompressed if its first bytes are gzip's or xz's (members and streams that follow each other
/// are joined); any other file as it is. Throws io::Error naming the file when it is truncated, corrupt, followed by
/// something else, needs more than 128 MiB to decompress, or holds more than `max_bytes`.
std::vector<uint8_t> read_decompressed(const std::filesystem::path& path, uint64_t max_bytes);

/// The same from memory; `name` begins the messages.
std::vector<uint8_t> decompress(std::span<const uint8_t> bytes, uint64_t max_bytes, std::string_view name);

/// The same of a file, whose bytes `take` gets piece by piece: of a MiB or less if the file is compressed, else all of
/// them as one. It takes as much memory as the file has bytes on the disk, and a MiB more.
void for_each_decompressed_piece(const std::filesystem::path& path, uint64_t max_bytes,
                                 const std::function<void(std::span<const uint8_t> piece)>& take);

}  // namespace cachet::io
