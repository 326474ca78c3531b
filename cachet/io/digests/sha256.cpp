#include "cachet/io/digests/sha256.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "cachet/io/digests/sha256_blocks.h"

namespace cachet::io {
namespace {

// The first 32 bits of the fractional parts of the square roots of the first 8 primes.
constexpr std::array<uint32_t, 8> kSha256Start = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                                  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

Sha256Blocks sha256_blocks() {
  static const Sha256Blocks fastest = sha256_blocks_native() ? sha256_blocks_native() : sha256_blocks_portable;
  return fastest;
}

}  // namespace

Sha256::Sha256() : state_(kSha256Start), block_{} {}

void Sha256::update(std::span<const std::byte> bytes) {
  const auto* next = reinterpret_cast<const uint8_t*>(bytes.data());
  size_t left = bytes.size();
  const size_t held = length_ % 64;
  length_ += left;
  if (held > 0) {
    const size_t taken = std::min(left, 64 - held);
    std::copy_n(next, taken, block_.begin() + static_cast<std::ptrdiff_t>(held));
    next += taken;
    left -= taken;
    if (held + taken < 64) return;
    sha256_blocks()(state_, block_.data(), 1);
  }
  sha256_blocks()(state_, next, left / 64);
  std::copy_n(next + left / 64 * 64, left % 64, block_.begin());
}

// The padding is a one bit, zeros, and the length in bits as 64-bit big-endian, up to a whole block.
Sha256::Digest Sha256::finish() {
  std::array<std::byte, 72> padding = {std::byte{0x80}};
  const size_t held = length_ % 64;
  const size_t zeros = (held < 56 ? 55 : 119) - held;
  for (size_t i = 0; i < 8; ++i) padding[1 + zeros + i] = static_cast<std::byte>(length_ * 8 >> (56 - 8 * i));
  update(std::span(padding).first(1 + zeros + 8));
  Digest digest;
  for (size_t i = 0; i < digest.size(); ++i) digest[i] = static_cast<uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)));
  *this = Sha256();
  return digest;
}

Sha256::Digest sha256(std::span<const std::byte> bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.finish();
}

std::string hex(const Sha256::Digest& digest) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : digest) (text += kDigits[byte >> 4]) += kDigits[byte & 15];
  return text;
}

std::string sha256_hex(std::span<const std::byte> bytes) { return hex(sha256(bytes)); }

std::string sha256_hex(std::string_view text) { return sha256_hex(std::as_bytes(std::span(text))); }

}  // namespace cachet::io
