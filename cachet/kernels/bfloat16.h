#pragma once

#include <bit>
#include <cstdint>

namespace cachet::kernels {

/// The upper half of a float32, laid out as LibTorch's c10::BFloat16. Kernels read it, compute in float32 and round
/// once.
struct BFloat16 {
  uint16_t bits;
};

inline float to_float(float value) { return value; }
inline float to_float(BFloat16 value) { return std::bit_cast<float>(static_cast<uint32_t>(value.bits) << 16); }

/// Rounds to nearest, ties to even.
template <class T>
T from_float(float value) = delete;
template <>
inline float from_float<float>(float value) {
  return value;
}
template <>
inline BFloat16 from_float<BFloat16>(float value) {
  if (value != value) return {0x7FC0};
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  return {static_cast<uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16)};
}

}  // namespace cachet::kernels
