#include <lzma.h>

#include <new>
#include <string>

#include "cachet/io/decompressor.h"
#include "cachet/io/growing_output.h"

namespace cachet::io {
namespace {

std::string xz_problem(lzma_ret status) {
  switch (status) {
    case LZMA_BUF_ERROR:
      return "truncated: the xz data end in the middle";
    case LZMA_FORMAT_ERROR:
      return "something else follows the xz data";
    case LZMA_MEMLIMIT_ERROR:
      return "the xz data need more than 128 MiB of memory to decompress";
    case LZMA_OPTIONS_ERROR:
    case LZMA_UNSUPPORTED_CHECK:
      return "the xz data use a filter or check that is not supported";
    default:
      return "corrupt xz data";
  }
}

struct XzStream {
  lzma_stream stream = LZMA_STREAM_INIT;
  XzStream() = default;
  XzStream(const XzStream&) = delete;
  XzStream& operator=(const XzStream&) = delete;
  ~XzStream() { lzma_end(&stream); }
};

}  // namespace

std::vector<uint8_t> decompress_xz(std::span<const uint8_t> bytes, uint64_t max_bytes, std::string_view name) {
  constexpr uint64_t kMostMemory = uint64_t{128} << 20;
  XzStream xz;
  // A check that liblzma cannot verify would let corrupt bytes pass.
  constexpr uint32_t kFlags = LZMA_CONCATENATED | LZMA_TELL_UNSUPPORTED_CHECK;
  if (lzma_stream_decoder(&xz.stream, kMostMemory, kFlags) != LZMA_OK) throw std::bad_alloc();
  xz.stream.next_in = bytes.data();
  xz.stream.avail_in = bytes.size();
  GrowingOutput output(max_bytes, name);
  while (true) {
    const std::span<uint8_t> room = output.room();
    xz.stream.next_out = room.data();
    xz.stream.avail_out = room.size();
    const lzma_ret status = lzma_code(&xz.stream, LZMA_FINISH);
    output.filled(room.size() - xz.stream.avail_out);
    if (status == LZMA_STREAM_END) return output.take();
    if (status == LZMA_MEM_ERROR) throw std::bad_alloc();
    if (status != LZMA_OK) throw Error(std::string(name) + ": " + xz_problem(status));
  }
}

}  // namespace cachet::io
