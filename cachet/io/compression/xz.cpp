#include <lzma.h>

#include <algorithm>
#include <array>
#include <new>
#include <string>

#include "cachet/io/compression/decompressor.h"

namespace cachet::io {
namespace {

std::string xz_problem(lzma_ret status) {
  switch (status) {
    case LZMA_BUF_ERROR:
      return "truncated: the xz data end in the middle";
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
  size_t stream(std::span<const uint8_t> bytes, GrowingOutput& output, std::string_view name) {
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
    bytes = behind_padding(bytes.subspan(decoder.stream(bytes, output, name)));
    if (bytes.empty()) return;
    if (bytes[0] != 0xFD) {
      throw Error(std::string(name) + ": " + std::to_string(bytes.size()) +
                  " bytes of something else follow the xz data");
    }
  }
}

}  // namespace cachet::io
