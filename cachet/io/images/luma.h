#pragma once

#include <cstdint>

namespace cachet::io {

/// Returns the grey value of a colour by ITU-R BT.601, 0.299 R + 0.587 G + 0.114 B, rounded to nearest.
inline uint8_t luma(unsigned red, unsigned green, unsigned blue) {
  return static_cast<uint8_t>((red * 19595 + green * 38470 + blue * 7471 + (1u << 15)) >> 16);
}

}  // namespace cachet::io
