#include "cachet/io/tensors/png.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>
#include <png.h>
#include <zlib.h>

#include <stdexcept>

#include "cachet/io/error.h"
#include "cachet/io/tensors/image.h"
#include "tests/support/bytes.h"
#include "tests/support/cheap_refusal.h"
#include "tests/support/thrown_message.h"

namespace cachet::io {
namespace {

const std::string kPngSignature = "\x89PNG\r\n\x1A\n";

std::string big_endian(uint64_t value) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(value >> shift);
  return text;
}

std::string png_chunk(const std::string& type, const std::string& data) {
  const std::string body = type + data;
  const auto checksum = crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return big_endian(data.size()) + body + big_endian(checksum);
}

std::string png_header(uint32_t width, uint32_t height, char depth = 8, char color = 0, char interlace = 0) {
  return png_chunk("IHDR", big_endian(width) + big_endian(height) + depth + color + std::string(2, '\0') + interlace);
}

std::string deflated(const std::string& text) {
  std::string out(compressBound(text.size()), '\0');
  uLongf size = out.size();
  compress(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(text.data()), text.size());
  return out.substr(0, size);
}

std::string png_file(const std::string& header, const std::string& rows, const std::string& before_data = "") {
  return kPngSignature + header + before_data + png_chunk("IDAT", deflated(rows)) + png_chunk("IEND", "");
}

at::Tensor decoded(const std::string& file, uint64_t max_pixels = 1000) {
  return decode_png(test::bytes_of(file), "f.png", max_pixels);
}

TEST(Png, KeepsPixels) {
  for (const int64_t channels : {1, 3}) {
    for (const auto& [height, width] : {std::pair{1, 1}, {3, 5}, {40, 17}}) {
      const at::Tensor image = at::randint(256, {height, width, channels}, at::kByte);
      EXPECT_TRUE(at::equal(decode_png(encode_png(image), "f"), image));
    }
  }
  const at::Tensor strided = at::randint(256, {3, 4, 6}, at::kByte).permute({1, 2, 0});
  EXPECT_TRUE(at::equal(decode_png(encode_png(strided), "f"), strided));
}

TEST(Png, RefusesTensorsThatAreNoImage) {
  for (const at::Tensor& image : {at::zeros({2, 2, 1}), at::zeros({2, 2}, at::kByte), at::zeros({2, 2, 4}, at::kByte),
                                  at::zeros({0, 2, 3}, at::kByte), at::Tensor()}) {
    EXPECT_THROW(encode_png(image), std::invalid_argument);
  }
  EXPECT_EQ(test::thrown_message<std::invalid_argument>([] {
              encode_png(at::zeros({2, 2}, at::kByte));
            }),
            "encode_png: image must be uint8 with shape (H, W, 1) or (H, W, 3) and no side of 0, but is Byte of shape "
            "[2, 2]");
}

TEST(Png, TurnsEveryKindInto8Bits) {
  const auto values = [](const at::Tensor& image) {
    const at::Tensor flat = image.reshape({-1}).to(at::kLong).contiguous();
    return std::vector<int64_t>(flat.const_data_ptr<int64_t>(), flat.const_data_ptr<int64_t>() + flat.numel());
  };
  using Values = std::vector<int64_t>;
  using namespace std::string_literals;
  EXPECT_EQ(values(decoded(png_file(png_header(3, 1, 1), "\0\xA0"s))), (Values{255, 0, 255}));
  EXPECT_EQ(values(decoded(png_file(png_header(2, 1, 16), "\0\x80\0\xFF\xFF"s))), (Values{128, 255}));
  EXPECT_EQ(values(decoded(png_file(png_header(1, 1, 8, 4), "\0\x07\x80"s))), (Values{7})) << "grey and alpha";
  EXPECT_EQ(values(decoded(png_file(png_header(1, 1, 8, 6), "\0\1\2\3\4"s))), (Values{1, 2, 3})) << "RGB and alpha";
  const std::string palette = png_chunk("PLTE", "\1\2\3\4\5\6"s), transparent = png_chunk("tRNS", "\0\x80"s);
  EXPECT_EQ(values(decoded(png_file(png_header(2, 1, 8, 3), "\0\1\0"s, palette))), (Values{4, 5, 6, 1, 2, 3}));
  EXPECT_EQ(values(decoded(png_file(png_header(2, 1, 8, 3), "\0\1\0"s, palette + transparent))),
            (Values{4, 5, 6, 1, 2, 3}));
  EXPECT_EQ(values(decoded(png_file(png_header(2, 1, 8, 0, 1), "\0\x05\0\x06"s))), (Values{5, 6})) << "interlaced";
  const std::string text = png_chunk("tEXt", "Comment\0anything"s);
  EXPECT_EQ(values(decoded(png_file(png_header(1, 1), "\0\7"s, text))), (Values{7}));
}

struct BadPng {
  const char* why;
  std::string bytes;
  const char* message;
};

TEST(Png, RefusesEveryBadFileWithItsReason) {
  using namespace std::string_literals;
  const std::string rows = "\0\1\2\0\3\4"s, good = png_file(png_header(2, 2), rows);
  ASSERT_EQ(decoded(good).numel(), 4);
  std::string bad_header_checksum = good, bad_data_checksum = good;
  bad_header_checksum[20] ^= 1;
  bad_data_checksum[kPngSignature.size() + 25 + 10] ^= 1;
  const BadPng cases[] = {
      {"empty", "", "truncated: the file is incomplete"},
      {"another format", "\xFF\xD8\xFF\xE0 a JPEG image", "Not a PNG file"},
      {"signature alone", kPngSignature, "truncated: the file is incomplete"},
      {"line ends changed in transfer", "\x89PNG\n\x1A\n" + good.substr(8), "PNG"},
      {"no header", kPngSignature + png_chunk("IDAT", deflated(rows)), "Missing IHDR before IDAT"},
      {"two headers", png_file(png_header(2, 2) + png_header(2, 2), rows), "out of place"},
      {"cut in the data", good.substr(0, good.size() - 20), "truncated: the file is incomplete"},
      {"cut before IEND", good.substr(0, good.size() - 12), "truncated: the file is incomplete"},
      {"cut by a byte", good.substr(0, good.size() - 1), "truncated: the file is incomplete"},
      {"header checksum", bad_header_checksum, "IHDR: CRC error"},
      {"data checksum", bad_data_checksum, "PNG: "},
      {"width 0", png_file(png_header(0, 2), rows), "Invalid IHDR data"},
      {"height 0", png_file(png_header(2, 0), rows), "Invalid IHDR data"},
      {"width of 2^31", png_file(png_header(1u << 31, 2), rows), "PNG unsigned integer out of range"},
      {"too many pixels", png_file(png_header(65535, 65535), rows), "has more pixels than the maximum"},
      {"one pixel over the cap", png_file(png_header(1001, 1), rows), "has more pixels than the maximum"},
      {"bit depth 3", png_file(png_header(2, 2, 3), rows), "Invalid IHDR data"},
      {"colour type 5", png_file(png_header(2, 2, 8, 5), rows), "Invalid IHDR data"},
      {"interlace method 2", png_file(png_header(2, 2, 8, 0, 2), rows), "Invalid IHDR data"},
      {"no palette", png_file(png_header(2, 2, 8, 3), rows), "Missing PLTE before IDAT"},
      {"palette of 4 bytes", png_file(png_header(2, 2, 8, 3), rows, png_chunk("PLTE", "1234")), "PLTE"},
      {"unknown critical chunk", png_file(png_header(2, 2), rows, png_chunk("ABCD", "")), "unhandled critical chunk"},
      {"chunk of 4 GB", kPngSignature + png_header(2, 2) + "\xFF\xFF\xFF\xFFIDAT", "out of range"},
      {"no data", kPngSignature + png_header(2, 2) + png_chunk("IEND", ""), "PNG: "},
      {"too few rows", png_file(png_header(2, 2), rows.substr(0, 3)), "PNG: "},
      {"too many rows", png_file(png_header(2, 2), rows + rows), "PNG: "},
      {"unknown filter", png_file(png_header(2, 2), "\x09\1\2\0\3\4"s), "bad adaptive filter value"},
      {"corrupt deflate", kPngSignature + png_header(2, 2) + png_chunk("IDAT", "garbage") + png_chunk("IEND", ""),
       "PNG: "},
      {"trailing bytes", good + "hello", "5 extra bytes follow the PNG image"},
      {"two images", good + good, "extra bytes follow the PNG image"},
  };
  for (const BadPng& bad : cases) {
    SCOPED_TRACE(bad.why);
    const std::string message = test::cheap_refusal<Error>(bad.bytes.size(), [&] { decoded(bad.bytes); });
    EXPECT_TRUE(message.starts_with("f.png: ")) << bad.why << ": " << message;
    EXPECT_NE(message.find(bad.message), std::string::npos) << bad.why << ": " << message;
  }
  for (size_t size = 0; size < good.size(); ++size) EXPECT_THROW(decoded(good.substr(0, size)), Error) << size;
}

// What other readers tolerate: data that belong to no pixel.
TEST(Png, ReadsFilesWithLeftoversWithAWarning) {
  using namespace std::string_literals;
  const std::string rows = "\0\1\2\0\3\4"s, good = png_file(png_header(2, 2), rows);
  const std::string start = kPngSignature + png_header(2, 2), end = png_chunk("IEND", "");
  const std::pair<const char*, std::string> cases[] = {
      {"bytes after the end", good + "hello"},
      {"another image", good + good},
      {"more rows", png_file(png_header(2, 2), rows + rows)},
      {"a row and a half more, interlaced", png_file(png_header(2, 1, 8, 0, 1), "\0\1\0\2\0\1\2\0"s)},
      {"bytes after the compressed data", start + png_chunk("IDAT", deflated(rows) + "extra") + end},
      {"two streams", start + png_chunk("IDAT", deflated(rows) + deflated(rows)) + end},
      {"two streams, each in a chunk",
       start + png_chunk("IDAT", deflated(rows)) + png_chunk("IDAT", deflated(rows)) + end},
      {"a chunk of other bytes", start + png_chunk("IDAT", deflated(rows)) + png_chunk("IDAT", "extra") + end},
  };
  for (const auto& [what, file] : cases) {
    SCOPED_TRACE(what);
    const DecodedImage image = decode_image(test::bytes_of(file), "f.png");
    EXPECT_EQ(image.pixels.const_data_ptr<uint8_t>()[0], 1);
    EXPECT_EQ(image.pixels.const_data_ptr<uint8_t>()[1], 2);
    EXPECT_GE(image.warnings, 1);
    EXPECT_FALSE(image.first_warning.empty());
    EXPECT_THROW(decode_image(test::bytes_of(file), "f.png", {.strict = true}), Error);
    EXPECT_THROW(decode_png(test::bytes_of(file), "f.png"), Error);
  }
  EXPECT_EQ(decode_image(test::bytes_of(good), "f.png").warnings, 0);
  const std::string data = deflated(rows);
  for (size_t cut = 0; cut <= data.size(); ++cut) {
    const std::string parts = png_chunk("IDAT", data.substr(0, cut)) + png_chunk("IDAT", data.substr(cut));
    EXPECT_EQ(decode_image(test::bytes_of(start + parts + end), "f.png").warnings, 0) << cut;
  }
  // A checksum of the pixels that does not fit stays a fault.
  std::string damaged = deflated(rows);
  damaged.back() ^= 1;
  EXPECT_THROW(decode_image(test::bytes_of(start + png_chunk("IDAT", damaged) + end), "f.png"), Error);
}

}  // namespace
}  // namespace cachet::io
