#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace cachet::io {

/// A tar archive consists of blocks. A header has one block, and a member begins at a block.
inline constexpr size_t kTarBlock = 512;

/// The fields of a member's header that the tar reader checks.
struct TarHeader {
  char type = '0';  // '0' or '\0' for a regular file
  uint64_t size = 0;
};

/// Parses a header. Returns std::nullopt if its checksum or its size is wrong.
std::optional<TarHeader> parse_tar_header(std::span<const std::byte, kTarBlock> block);

/// Makes the header of a regular file in the format ustar. Equal arguments give equal bytes: the time is 0, and the
/// owner is root. Throws std::invalid_argument unless the name has 1 to 100 bytes and `size` is below 8 GiB.
std::array<std::byte, kTarBlock> make_tar_header(std::string_view name, uint64_t size);

}  // namespace cachet::io
