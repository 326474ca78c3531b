#pragma once

#include <lzma.h>
#include <zlib.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <stdexcept>
#include <vector>

namespace cachet::test {

using Bytes = std::vector<uint8_t>;

inline Bytes gzip(std::span<const uint8_t> content) {
  z_stream stream{};
  constexpr int kGzipHeader = 16 + MAX_WBITS;
  if (deflateInit2(&stream, 6, Z_DEFLATED, kGzipHeader, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("deflateInit2");
  }
  Bytes packed(deflateBound(&stream, content.size()));
  stream.next_in = const_cast<uint8_t*>(content.data());
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = packed.data();
  stream.avail_out = static_cast<uInt>(packed.size());
  const int status = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (status != Z_STREAM_END) throw std::runtime_error("deflate");
  return packed;
}

inline Bytes xz(std::span<const uint8_t> content) {
  Bytes packed(lzma_stream_buffer_bound(content.size()));
  size_t size = 0;
  if (lzma_easy_buffer_encode(3, LZMA_CHECK_CRC64, nullptr, content.data(), content.size(), packed.data(), &size,
                              packed.size()) != LZMA_OK) {
    throw std::runtime_error("lzma_easy_buffer_encode");
  }
  packed.resize(size);
  return packed;
}

inline void write_bytes(const std::filesystem::path& path, std::span<const uint8_t> content) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(content.data()), static_cast<std::streamsize>(content.size()));
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

}  // namespace cachet::test
