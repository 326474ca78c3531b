#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace cachet::io {

/// The SHA-1 of bytes that come in pieces (FIPS 180-4). Git identifies the contents of files by SHA-1. SHA-1 does not
/// protect against an attacker who chooses the content: use it only to compare a file with a digest of Git.
class Sha1 {
 public:
  using Digest = std::array<uint8_t, 20>;

  void update(std::span<const std::byte> bytes);
  /// Returns the digest of the bytes so far, and resets the object for other bytes.
  Digest finish();

 private:
  void add_block(const uint8_t* block);

  std::array<uint32_t, 5> state_{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  std::array<uint8_t, 64> block_{};  // bytes of the last block, which is not full yet
  uint64_t length_ = 0;              // number of bytes so far
};

std::string hex(const Sha1::Digest& digest);  // 40 lower-case digits

}  // namespace cachet::io
