#pragma once

#include <cstdint>
#include <vector>

#include "tests/support/packed_bytes.h"

// Files of images made in memory, whole ones to start from and to damage.
namespace cachet::test {

inline void append_big_endian(Bytes& bytes, uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<uint8_t>(number >> shift));
}

inline Bytes idx_header(uint32_t magic, const std::vector<uint32_t>& dims) {
  Bytes bytes;
  append_big_endian(bytes, magic);
  for (const uint32_t dim : dims) append_big_endian(bytes, dim);
  return bytes;
}

/// Pixel p of image i is (7 i + p) mod 256.
inline Bytes idx_images(uint32_t count, uint32_t height, uint32_t width) {
  Bytes bytes = idx_header(0x803, {count, height, width});
  for (uint32_t i = 0; i < count; ++i) {
    for (uint32_t p = 0; p < height * width; ++p) bytes.push_back(static_cast<uint8_t>(7 * i + p));
  }
  return bytes;
}

inline Bytes idx_labels(const Bytes& labels) {
  Bytes bytes = idx_header(0x801, {static_cast<uint32_t>(labels.size())});
  bytes.insert(bytes.end(), labels.begin(), labels.end());
  return bytes;
}

/// Records whose first bytes are given (one label, or a coarse and a fine one); pixel p of record i is (5 i + p) mod
/// 256.
inline Bytes cifar_records(const std::vector<Bytes>& labels) {
  Bytes bytes;
  for (uint32_t i = 0; i < labels.size(); ++i) {
    bytes.insert(bytes.end(), labels[i].begin(), labels[i].end());
    for (uint32_t p = 0; p < 3072; ++p) bytes.push_back(static_cast<uint8_t>(5 * i + p));
  }
  return bytes;
}

inline Bytes cut(Bytes bytes, size_t size) {
  bytes.resize(size);
  return bytes;
}

inline Bytes with_byte(Bytes bytes, size_t at, uint8_t value) {
  bytes.at(at) = value;
  return bytes;
}

inline Bytes joined(Bytes first, const Bytes& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

}  // namespace cachet::test
