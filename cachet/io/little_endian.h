#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace cachet::io {

/// Reads the little-endian `Int` at `position`. The caller must have checked that `bytes` has all bytes of the integer.
template <class Int>
Int little_endian(std::span<const std::byte> bytes, size_t position) {
  uint64_t value = 0;
  for (size_t i = sizeof(Int); i-- > 0;) value = (value << 8) | std::to_integer<uint64_t>(bytes[position + i]);
  return static_cast<Int>(value);
}

}  // namespace cachet::io
