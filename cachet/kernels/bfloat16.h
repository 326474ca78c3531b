#pragma once

#include <cstdint>
#include <cstring>

#include "cachet/kernels/host_device.h"

namespace cachet::kernels {

/// The upper 16 bits of a float32, with the layout of LibTorch's c10::BFloat16. Kernels read BFloat16, compute in
/// float32 and round the result once.
struct BFloat16 {
  uint16_t bits;
};

CACHET_HOST_DEVICE inline float to_float(float value) { return value; }
CACHET_HOST_DEVICE inline float to_float(BFloat16 value) {
  const uint32_t bits = static_cast<uint32_t>(value.bits) << 16;
  float wide;
  std::memcpy(&wide, &bits, sizeof(wide));
  return wide;
}

/// Rounds to the nearest number of the type T. A number halfway between two numbers is rounded to the even one.
template <class T>
CACHET_HOST_DEVICE T from_float(float value) = delete;
template <>
CACHET_HOST_DEVICE inline float from_float<float>(float value) {
  return value;
}
template <>
CACHET_HOST_DEVICE inline BFloat16 from_float<BFloat16>(float value) {
  if (value != value) return {0x7FC0};
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return {static_cast<uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16)};
}

}  // namespace cachet::kernels
