#include "cachet/io/digests/sha1.h"

#include <algorithm>
#include <bit>
#include <string_view>

namespace cachet::io {

void Sha1::add_block(const uint8_t* block) {
  std::array<uint32_t, 80> words;
  for (size_t t = 0; t < 16; ++t)
    words[t] = uint32_t{block[4 * t]} << 24 | uint32_t{block[4 * t + 1]} << 16 | uint32_t{block[4 * t + 2]} << 8 |
               uint32_t{block[4 * t + 3]};
  for (size_t t = 16; t < 80; ++t) words[t] = std::rotl(words[t - 3] ^ words[t - 8] ^ words[t - 14] ^ words[t - 16], 1);
  auto [a, b, c, d, e] = state_;
  for (size_t t = 0; t < 80; ++t) {
    uint32_t mixed = b ^ c ^ d, constant = 0x6ed9eba1;  // rounds 20 to 39
    if (t < 20) {
      mixed = (b & c) | (~b & d);
      constant = 0x5a827999;
    } else if (t >= 40 && t < 60) {
      mixed = (b & c) | (b & d) | (c & d);
      constant = 0x8f1bbcdc;
    } else if (t >= 60) {
      constant = 0xca62c1d6;
    }
    const uint32_t next = std::rotl(a, 5) + mixed + e + constant + words[t];
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  }
  const std::array<uint32_t, 5> sums{a, b, c, d, e};
  for (size_t i = 0; i < sums.size(); ++i) state_[i] += sums[i];
}

void Sha1::update(std::span<const std::byte> bytes) {
  const auto* next = reinterpret_cast<const uint8_t*>(bytes.data());
  size_t left = bytes.size();
  while (left > 0) {
    const size_t held = length_ % 64, taken = std::min(left, 64 - held);
    if (taken == 64) {
      add_block(next);
    } else {
      std::copy_n(next, taken, block_.begin() + static_cast<std::ptrdiff_t>(held));
      if (held + taken == 64) add_block(block_.data());
    }
    next += taken;
    left -= taken;
    length_ += taken;
  }
}

// The padding is a one bit, zeros, and the length in bits as 64-bit big-endian, up to a whole block.
Sha1::Digest Sha1::finish() {
  std::array<std::byte, 72> padding = {std::byte{0x80}};
  const size_t held = length_ % 64, zeros = (held < 56 ? 55 : 119) - held;
  for (size_t i = 0; i < 8; ++i) padding[1 + zeros + i] = static_cast<std::byte>(length_ * 8 >> (56 - 8 * i));
  update(std::span(padding).first(1 + zeros + 8));
  Digest digest;
  for (size_t i = 0; i < digest.size(); ++i) digest[i] = static_cast<uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)));
  *this = Sha1();
  return digest;
}

std::string hex(const Sha1::Digest& digest) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : digest) (text += kDigits[byte >> 4]) += kDigits[byte & 15];
  return text;
}

}  // namespace cachet::io
