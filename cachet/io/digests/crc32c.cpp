#include "cachet/io/digests/crc32c.h"

#include <array>

namespace cachet::io {
namespace {

constexpr uint32_t kCastagnoliReversed = 0x82F63B78;

constexpr std::array<uint32_t, 256> make_crc32c_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < table.size(); ++byte) {
    uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = rest >> 1 ^ (rest & 1 ? kCastagnoliReversed : 0);
    table[byte] = rest;
  }
  return table;
}

constexpr std::array<uint32_t, 256> kCrc32cTable = make_crc32c_table();

}  // namespace

uint32_t crc32c(std::string_view bytes) {
  uint32_t rest = 0xFFFFFFFF;
  for (const char symbol : bytes) rest = kCrc32cTable[(rest ^ static_cast<unsigned char>(symbol)) & 0xFF] ^ rest >> 8;
  return ~rest;
}

}  // namespace cachet::io
