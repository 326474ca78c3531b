#pragma once

#include <cstdint>
#include <string_view>

namespace cachet::io {

/// Returns the checksum CRC-32C (Castagnoli's polynomial), as defined in RFC 3720, appendix B.4.
uint32_t crc32c(std::string_view bytes);

}  // namespace cachet::io
