#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace cachet::io {

/// The SHA-256 of bytes that come in pieces (FIPS 180-4). Uses the processor's SHA instructions if it has them.
class Sha256 {
 public:
  using Digest = std::array<uint8_t, 32>;

  Sha256();
  void update(std::span<const std::byte> bytes);
  /// Returns the digest of the bytes so far, and resets the object for other bytes.
  Digest finish();

 private:
  std::array<uint32_t, 8> state_;
  std::array<uint8_t, 64> block_;  // bytes of the last block, which is not full yet
  uint64_t length_ = 0;            // number of bytes so far
};

Sha256::Digest sha256(std::span<const std::byte> bytes);
std::string hex(const Sha256::Digest& digest);  // 64 lower-case digits
std::string sha256_hex(std::span<const std::byte> bytes);
std::string sha256_hex(std::string_view text);

}  // namespace cachet::io
