#include "cachet/io/compression/decompressor.h"

#include <lzma.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <climits>
#include <new>
#include <string>

namespace cachet::io {
namespace {

class GzipInflater {
 public:
  GzipInflater() {
    constexpr int kLargestWindow = 15, kGzipOnly = 16;
    if (inflateInit2(&stream_, kLargestWindow + kGzipOnly) != Z_OK) throw std::bad_alloc();
  }
  GzipInflater(const GzipInflater&) = delete;
  GzipInflater& operator=(const GzipInflater&) = delete;
  ~GzipInflater() { inflateEnd(&stream_); }

  /// Inflates one member and returns the number of bytes that it took.
  size_t member(std::span<const uint8_t> bytes, GrowingOutput& output, const std::string& name) {
    inflateReset(&stream_);
    size_t given = 0;
    stream_.avail_in = 0;
    stream_.next_in = const_cast<Bytef*>(bytes.data());
    while (true) {
      if (stream_.avail_in == 0) {
        stream_.avail_in = static_cast<uInt>(std::min<size_t>(bytes.size() - given, UINT_MAX));
        given += stream_.avail_in;
      }
      const std::span<uint8_t> room = output.room();
      const auto offered = static_cast<uInt>(std::min<size_t>(room.size(), UINT_MAX));
      stream_.next_out = room.data();
      stream_.avail_out = offered;
      const bool had_input = stream_.avail_in > 0;
      const int status = inflate(&stream_, Z_NO_FLUSH);
      output.filled(offered - stream_.avail_out);
      if (status == Z_STREAM_END) return given - stream_.avail_in;
      if (status == Z_MEM_ERROR) throw std::bad_alloc();
      if (status == Z_BUF_ERROR && !had_input) throw Error(name + ": truncated: the gzip data are incomplete");
      if (status != Z_OK && status != Z_BUF_ERROR) {
        throw Error(name +
                    ": corrupt gzip data: " + (stream_.msg != nullptr ? stream_.msg : "the data need a dictionary"));
      }
    }
  }

 private:
  z_stream stream_ = {};
};

}  // namespace

void decompress_gzip(std::span<const uint8_t> bytes, GrowingOutput& output, std::string_view name) {
  const std::string file(name);
  GzipInflater inflater;
  while (true) {
    bytes = bytes.subspan(inflater.member(bytes, output, file));
    if (bytes.empty()) return;
    const bool is_member = bytes[0] == 0x1F && (bytes.size() < 2 || bytes[1] == 0x8B);
    if (!is_member) throw Error(file + ": " + std::to_string(bytes.size()) + " extra bytes follow the gzip data");
  }
}

namespace {

std::string xz_problem(lzma_ret status) {
  switch (status) {
    case LZMA_BUF_ERROR:
      return "truncated: the xz data are incomplete";
    case LZMA_MEMLIMIT_ERROR:
      return "the xz data need more than 128 MiB of memory to decompress";
    case LZMA_OPTIONS_ERROR:
    case LZMA_UNSUPPORTED_CHECK:
      return "the xz data use a filter or check that is not supported";
    default:
      return "corrupt xz data";
  }
}

class XzDecoder {
 public:
  XzDecoder() = default;
  XzDecoder(const XzDecoder&) = delete;
  XzDecoder& operator=(const XzDecoder&) = delete;
  ~XzDecoder() { lzma_end(&stream_); }

  /// Decodes one stream and returns the number of bytes that it took.
  size_t decode(std::span<const uint8_t> bytes, GrowingOutput& output, std::string_view name) {
    constexpr uint64_t kMaxMemory = uint64_t{128} << 20;
    // A check that liblzma cannot verify would let corrupt bytes pass.
    if (lzma_stream_decoder(&stream_, kMaxMemory, LZMA_TELL_UNSUPPORTED_CHECK) != LZMA_OK) throw std::bad_alloc();
    stream_.next_in = bytes.data();
    stream_.avail_in = bytes.size();
    while (true) {
      const std::span<uint8_t> room = output.room();
      stream_.next_out = room.data();
      stream_.avail_out = room.size();
      const lzma_ret status = lzma_code(&stream_, LZMA_FINISH);
      output.filled(room.size() - stream_.avail_out);
      if (status == LZMA_STREAM_END) return bytes.size() - stream_.avail_in;
      if (status == LZMA_MEM_ERROR) throw std::bad_alloc();
      if (status != LZMA_OK) throw Error(std::string(name) + ": " + xz_problem(status));
    }
  }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
};

// Zeros, four at a time, may follow each stream.
std::span<const uint8_t> behind_padding(std::span<const uint8_t> bytes) {
  constexpr std::array<uint8_t, 4> kPadding = {};
  while (bytes.size() >= 4 && std::equal(kPadding.begin(), kPadding.end(), bytes.begin())) bytes = bytes.subspan(4);
  return bytes;
}

}  // namespace

void decompress_xz(std::span<const uint8_t> bytes, GrowingOutput& output, std::string_view name) {
  XzDecoder decoder;
  while (true) {
    bytes = behind_padding(bytes.subspan(decoder.decode(bytes, output, name)));
    if (bytes.empty()) return;
    if (bytes[0] != 0xFD) {
      throw Error(std::string(name) + ": " + std::to_string(bytes.size()) + " extra bytes follow the xz data");
    }
  }
}

}  // namespace cachet::io
