#include <zlib.h>

#include <algorithm>
#include <climits>
#include <new>
#include <string>

#include "cachet/io/compression/decompressor.h"

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
      if (status == Z_BUF_ERROR && !had_input) throw Error(name + ": truncated: the gzip data end in the middle");
      if (status != Z_OK && status != Z_BUF_ERROR) {
        throw Error(name +
                    ": corrupt gzip data: " + (stream_.msg != nullptr ? stream_.msg : "a dictionary is asked for"));
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
    if (!is_member)
      throw Error(file + ": " + std::to_string(bytes.size()) + " bytes of something else follow the gzip data");
  }
}

}  // namespace cachet::io
