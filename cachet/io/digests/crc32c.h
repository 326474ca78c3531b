#pragma once

#include <cstdint>
#include <string_view>

namespace cachet::io {

/// CRC-32C (Castagnoli's polynomial) as RFC 3720, appendix B.4, defines it.
uint32_t crc32c(std::string_view bytes);

}  // namespace cachet::io
