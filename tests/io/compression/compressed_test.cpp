#include "cachet/io/compression/compressed.h"

#include <gtest/gtest.h>
#include <lzma.h>
#include <zlib.h>

#include <functional>
#include <random>

#include "cachet/io/error.h"
#include "tests/support/bytes.h"
#include "tests/support/cheap_refusal.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"

namespace cachet::io {
namespace {

std::string gzip(const std::string& text) {
  z_stream stream = {};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string xz(const std::string& text, uint32_t preset = 1, lzma_check check = LZMA_CHECK_CRC64) {
  std::string out(lzma_stream_buffer_bound(text.size()), '\0');
  size_t size = 0;
  EXPECT_EQ(lzma_easy_buffer_encode(preset, check, nullptr, reinterpret_cast<const uint8_t*>(text.data()), text.size(),
                                    reinterpret_cast<uint8_t*>(out.data()), &size, out.size()),
            LZMA_OK);
  out.resize(size);
  return out;
}

// An xz stream whose filter asks for a dictionary of 1 GiB: that is the value 36 after the filter's number (0x21) and
// the size of its properties (1), in a block header that ends with its checksum.
std::string xz_of_large_dictionary(const std::string& text) {
  std::string out = xz(text);
  const size_t begin = 12, end = begin + (static_cast<unsigned char>(out[begin]) + 1u) * 4;
  out.at(out.find("\x21\x01", begin) + 2) = 36;
  const uint32_t checksum = lzma_crc32(reinterpret_cast<const uint8_t*>(out.data()) + begin, end - 4 - begin, 0);
  for (size_t i = 0; i < 4; ++i) out[end - 4 + i] = static_cast<char>(checksum >> (8 * i));
  return out;
}

std::string noise(size_t size) {
  std::mt19937 chance(7);
  std::string text(size, '\0');
  for (char& symbol : text) symbol = static_cast<char>(chance());
  return text;
}

std::string changed(std::string text, size_t place, char by = 1) {
  text.at(place) = static_cast<char>(text.at(place) ^ by);
  return text;
}

constexpr uint64_t kCap = 10'000'000;

std::string expand(const std::string& bytes, uint64_t max_bytes = kCap) {
  const auto out = decompress({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, max_bytes, "f");
  return {out.begin(), out.end()};
}

const std::string kText = noise(300) + std::string(1000, 'a');

TEST(Compressed, ReadsPlainGzipAndXz) {
  const test::TemporaryDirectory folder;
  for (const std::string& text : {std::string(), std::string("abc"), kText, noise(1'000'000)}) {
    for (const std::string& bytes : {text, gzip(text), xz(text), xz(text, 6, LZMA_CHECK_SHA256), xz(text, 9)}) {
      test::write_bytes(folder / "a", bytes);
      const auto read = read_decompressed(folder / "a", 10'000'000);
      EXPECT_EQ(std::string(read.begin(), read.end()), text);
    }
  }
}

TEST(Compressed, PiecesAreTheWholeAndSmall) {
  const test::TemporaryDirectory folder;
  const std::string text = noise(3'000'000) + std::string(1'000'000, 'a');
  for (const std::string& bytes : {gzip(text), gzip(text) + gzip("") + gzip(text), xz(text), text, std::string()}) {
    test::write_bytes(folder / "a", bytes);
    const auto whole = read_decompressed(folder / "a", kCap);
    std::string joined;
    for_each_decompressed_piece(folder / "a", kCap, [&](std::span<const uint8_t> piece) {
      EXPECT_LE(piece.size(), bytes == text ? text.size() : size_t{1} << 20);
      joined.append(piece.begin(), piece.end());
    });
    EXPECT_EQ(joined, std::string(whole.begin(), whole.end()));
  }
  test::write_bytes(folder / "a", gzip(text));
  EXPECT_THROW(for_each_decompressed_piece(folder / "a", text.size() - 1, [](auto) {}), Error);
  int64_t pieces = 0;
  EXPECT_THROW(for_each_decompressed_piece(folder / "a", kCap,
                                           [&](auto) {
                                             if (++pieces == 2) throw std::domain_error("enough");
                                           }),
               std::domain_error);
}

TEST(Compressed, JoinsMembersAndStreams) {
  EXPECT_EQ(expand(gzip("one ") + gzip("") + gzip("two")), "one two");
  EXPECT_EQ(expand(xz("one ") + xz("") + xz("two")), "one two");
  EXPECT_EQ(expand(xz("one ") + std::string(8, '\0') + xz("two") + std::string(4, '\0')), "one two")
      << "stream padding";
}

TEST(Compressed, ShortFilesArePlain) {
  for (const std::string text : {"\x1F",
                                 "\xFD"
                                 "7zXZ",
                                 "\x1F\x8C", "PK"})
    EXPECT_EQ(expand(text), text);
}

TEST(Compressed, HoldsTheCapExactly) {
  for (const auto& bytes : {std::string(1000, 'a'), gzip(std::string(1000, 'a')), xz(std::string(1000, 'a'))}) {
    EXPECT_EQ(expand(bytes, 1000).size(), 1000u);
    EXPECT_THROW(expand(bytes, 999), Error);
    EXPECT_THROW(expand(bytes, 0), Error);
  }
}

struct BadCompressed {
  const char* why;
  std::string bytes;
  const char* message;
};

const std::vector<BadCompressed>& bad_compressed() {
  static const std::string z = gzip(kText), x = xz(kText), zeros(64, '\0');
  static const std::vector<BadCompressed> cases = {
      {"gzip: magic alone", "\x1F\x8B", "truncated: the gzip data are incomplete"},
      {"gzip: cut in the header", z.substr(0, 7), "truncated: the gzip data are incomplete"},
      {"gzip: header alone", z.substr(0, 10), "truncated: the gzip data are incomplete"},
      {"gzip: cut in the data", z.substr(0, z.size() / 2), "truncated: the gzip data are incomplete"},
      {"gzip: cut before the checksum", z.substr(0, z.size() - 8), "truncated: the gzip data are incomplete"},
      {"gzip: cut by a byte", z.substr(0, z.size() - 1), "truncated: the gzip data are incomplete"},
      {"gzip: second member cut", z + z.substr(0, 12), "truncated: the gzip data are incomplete"},
      {"gzip: second member's first byte", z + "\x1F", "truncated: the gzip data are incomplete"},
      {"gzip: unknown method", changed(z, 2), "unknown compression method"},
      {"gzip: reserved flags", changed(z, 3, '\x80'), "unknown header flags set"},
      {"gzip: reserved block", z.substr(0, 10) + "\x07" + zeros, "invalid block type"},
      {"gzip: bad code lengths", z.substr(0, 10) + "\xFD" + zeros, "corrupt gzip data"},
      {"gzip: stored block's lengths", z.substr(0, 10) + "\x01" + zeros.substr(0, 2) + zeros, "invalid stored block"},
      {"gzip: distance too far back", z.substr(0, 10) + "\x03\x02\x00", "corrupt gzip data"},
      {"gzip: wrong checksum", changed(z, z.size() - 8), "incorrect data check"},
      {"gzip: wrong length", changed(z, z.size() - 4), "incorrect length check"},
      {"gzip: trailing garbage", z + "hello", "5 extra bytes follow the gzip data"},
      {"gzip: trailing zeros", z + zeros, "64 extra bytes follow the gzip data"},
      {"gzip: xz behind it", z + x, "extra bytes follow the gzip data"},
      {"gzip: a bomb", gzip(std::string(50'000'000, '\0')), "the decompressed data have more than 10000000 bytes"},
      {"xz: magic alone", x.substr(0, 6), "truncated: the xz data are incomplete"},
      {"xz: header alone", x.substr(0, 12), "truncated: the xz data are incomplete"},
      {"xz: cut in the data", x.substr(0, x.size() / 2), "truncated: the xz data are incomplete"},
      {"xz: cut before the footer", x.substr(0, x.size() - 12), "truncated: the xz data are incomplete"},
      {"xz: cut by a byte", x.substr(0, x.size() - 1), "truncated: the xz data are incomplete"},
      {"xz: second stream cut", x + x.substr(0, 20), "truncated: the xz data are incomplete"},
      {"xz: reserved flags", changed(x, 6), "xz data"},
      {"xz: header checksum", changed(x, 8), "corrupt xz data"},
      {"xz: block header", changed(x, 13), "corrupt xz data"},
      {"xz: data", changed(x, x.size() / 2), "corrupt xz data"},
      {"xz: footer magic", changed(x, x.size() - 1), "xz data"},
      {"xz: footer's backward size", changed(x, x.size() - 8), "corrupt xz data"},
      {"xz: trailing garbage", x + "hello world!", "extra bytes follow the xz data"},
      {"xz: padding of three bytes", x + zeros.substr(0, 3), "3 extra bytes follow the xz data"},
      {"xz: gzip behind it", x + z, "extra bytes follow the xz data"},
      {"xz: a dictionary of 1 GiB", xz_of_large_dictionary(kText), "more than 128 MiB of memory"},
      {"xz: a bomb", xz(std::string(50'000'000, '\0')), "the decompressed data have more than 10000000 bytes"},
  };
  return cases;
}

TEST(Compressed, RefusesEveryBadFileWithItsReason) {
  EXPECT_GE(bad_compressed().size(), 30u);
  for (const BadCompressed& bad : bad_compressed()) {
    SCOPED_TRACE(bad.why);
    // What is packed may be read up to the cap before it is refused.
    const bool read_to_the_cap = std::string(bad.message).starts_with("the decompressed data have more than");
    const uint64_t read = read_to_the_cap ? kCap : bad.bytes.size();
    const std::string message = test::cheap_refusal<Error>(read, [&] { expand(bad.bytes); });
    EXPECT_TRUE(message.starts_with("f: ")) << bad.why << ": " << message;
    EXPECT_NE(message.find(bad.message), std::string::npos) << bad.why << ": " << message;
  }
}

TEST(Compressed, RefusesEveryTruncation) {
  for (const std::string& whole : {gzip(kText), xz(kText)}) {
    for (size_t size = 6; size < whole.size(); ++size) EXPECT_THROW(expand(whole.substr(0, size)), Error) << size;
  }
}

TEST(Compressed, NamesTheFile) {
  const test::TemporaryDirectory folder;
  test::write_bytes(folder / "images.gz", gzip(kText).substr(0, 100));
  EXPECT_EQ(test::thrown_message<Error>([&] { read_decompressed(folder / "images.gz", 1000); }),
            (folder / "images.gz").string() + ": truncated: the gzip data are incomplete");
}

}  // namespace
}  // namespace cachet::io
