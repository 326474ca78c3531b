#include "cachet/io/digests/crc32.h"

#include <zlib.h>

namespace cachet::io {

uint32_t crc32(std::span<const std::byte> bytes, uint32_t before) {
  return static_cast<uint32_t>(crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace cachet::io
