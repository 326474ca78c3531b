// One file for each way that a JPEG file can be wrong.
#include <gtest/gtest.h>

#include "cachet/io/error.h"
#include "cachet/io/tensors/image.h"
#include "tests/support/cheap_refusal.h"
#include "tests/support/jpeg_files.h"

namespace cachet::io {
namespace {

constexpr uint64_t kFewPixels = 10'000;

void decode_bad_jpeg(const std::string& file) {
  decode_image(std::as_bytes(std::span(file)), "f.jpg", {.max_pixels = kFewPixels});
}

struct BadJpeg {
  const char* why;
  std::string bytes;
  const char* message;
};

// The first scan gives the coarse part of every block, and may do so again.
std::string first_scan_repeated(const std::string& file, int times) {
  const size_t first = test::jpeg_marker(file, 0xDA);
  size_t next = first + test::jpeg_segment_size(file, first);
  while (file[next] != '\xFF' || file[next + 1] == 0) ++next;
  std::string repeated = file.substr(0, first);
  for (int i = 0; i < times; ++i) repeated += file.substr(first, next - first);
  return repeated + file.substr(first);
}

std::vector<BadJpeg> formats_and_frames(const std::string& good) {
  using namespace std::string_literals;
  using test::with_jpeg_bytes;
  const std::string end = "\xFF\xD9", arithmetic = test::jpeg_file(20, 20, {.arithmetic = true});
  // Of the frame header: length at 2, precision at 4, height at 5, width at 7, components at 9, then three bytes each.
  return {
      {"empty", "", "the file is empty"},
      {"a byte", "\xFF", "this is not an image; only JPEG and PNG are supported"},
      {"a Git LFS pointer", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "run `git lfs pull`"},
      {"a text", "hello, world", "not an image"},
      {"GIF", "GIF89a\1\0\1\0"s, "a GIF file; only JPEG and PNG are supported"},
      {"BMP", "BM\x36\0\0\0"s, "a BMP file"},
      {"WebP", "RIFF\x24\0\0\0WEBPVP8 "s, "a WebP file"},
      {"TIFF, little-endian", "II*\0\x08\0\0\0"s, "a TIFF file"},
      {"TIFF, big-endian", "MM\0*\0\0\0\x08"s, "a TIFF file"},
      {"JPEG 2000", "\0\0\0\x0CjP  \r\n\x87\n"s, "a JPEG 2000 file"},
      {"the first marker is no marker", "\xFF\xD8 image", "not an image"},
      {"nothing behind the start", "\xFF\xD8\xFF", "truncated: the file is incomplete"},
      {"start and end", "\xFF\xD8" + end, "contains no image"},
      {"two starts", "\xFF\xD8" + good, "two SOI markers"},
      {"width 0", with_jpeg_bytes(good, 0xC0, 7, "\0\0"s), "Empty JPEG image"},
      {"height 0, to be told by DNL", with_jpeg_bytes(good, 0xC0, 5, "\0\0"s), "Empty JPEG image"},
      {"65535 x 65535", with_jpeg_bytes(good, 0xC0, 5, "\xFF\xFF\xFF\xFF"), "65500 pixels"},
      {"65500 x 65500", with_jpeg_bytes(good, 0xC0, 5, "\xFF\xDC\xFF\xDC"), "has more pixels than the maximum"},
      {"a row over the cap", with_jpeg_bytes(good, 0xC0, 5, "\0\x65\0\x64"s), "has more pixels than the maximum"},
      {"12 bits", with_jpeg_bytes(good, 0xC0, 4, "\x0C"), "12 bits for each sample are not supported, only 8"},
      {"16 bits", with_jpeg_bytes(good, 0xC0, 4, "\x10"), "16 bits for each sample are not supported, only 8"},
      {"lossless", with_jpeg_bytes(good, 0xC0, 1, "\xC3"), "lossless files (frame type 0xc3) are not supported"},
      {"hierarchical", with_jpeg_bytes(good, 0xC0, 1, "\xC5"),
       "hierarchical files (frame type 0xc5) are not supported"},
      {"hierarchical, progressive", with_jpeg_bytes(good, 0xC0, 1, "\xC6"), "hierarchical files"},
      {"hierarchical, lossless", with_jpeg_bytes(good, 0xC0, 1, "\xC7"), "hierarchical files"},
      {"arithmetic, cut", arithmetic.substr(0, arithmetic.size() - 20), "truncated: the file is incomplete"},
      {"arithmetic, 65500 x 65500", with_jpeg_bytes(arithmetic, 0xC9, 5, "\xFF\xDC\xFF\xDC"),
       "has more pixels than the maximum"},
      {"arithmetic, lossless", with_jpeg_bytes(good, 0xC0, 1, "\xCB"), "lossless files (frame type 0xcb)"},
      {"no components", with_jpeg_bytes(good, 0xC0, 9, "\0"s), "Empty JPEG image"},
      {"two components", with_jpeg_bytes(good, 0xC0, 9, "\2"), "Bogus marker length"},
      {"eleven components", with_jpeg_bytes(good, 0xC0, 9, "\x0B"), "Bogus marker length"},
      {"frame header too long", with_jpeg_bytes(good, 0xC0, 2, "\0\x13"s), "Bogus marker length"},
      {"sampling factor 0", with_jpeg_bytes(good, 0xC0, 11, "\x02"), "Bogus sampling factors"},
      {"sampling factor 5", with_jpeg_bytes(good, 0xC0, 11, "\x55"), "Bogus sampling factors"},
      {"sampling factors that do not divide", with_jpeg_bytes(good, 0xC0, 11, "\x23\1\2\x32"), "JPEG: "},
      {"two frames", test::inserted_before(good, 0xDA, good.substr(test::jpeg_marker(good, 0xC0), 19)),
       "two SOF markers"},
      {"no frame", test::without_jpeg_segments(good, 0xC0), "SOS before SOF"},
  };
}

std::vector<BadJpeg> tables_and_scans(const std::string& good) {
  using namespace std::string_literals;
  using test::inserted_before;
  using test::with_jpeg_bytes;
  const std::string progressive = test::jpeg_file(20, 20, {.progressive = true});
  const std::string restarts = test::jpeg_file(64, 64, {.restart_interval = 1});
  const size_t data = test::jpeg_marker(good, 0xDA) + 14, first_restart = restarts.find("\xFF\xD0");
  std::string lost_restarts = restarts;
  lost_restarts.erase(first_restart, restarts.find("\xFF\xD2") - first_restart);
  // Of the scan header: length at 2, components at 4, then two bytes each, then the band of coefficients.
  return {
      {"no quantization tables", test::without_jpeg_segments(good, 0xDB), "Quantization table 0x00 was not defined"},
      {"quantization table 9", with_jpeg_bytes(good, 0xDB, 4, "\x09"), "Bogus DQT index 9"},
      {"quantization table cut", inserted_before(good, 0xDA, "\xFF\xDB\0\x10\0\1\2\3"s), "JPEG: "},
      {"quantization table number", with_jpeg_bytes(good, 0xC0, 12, "\3"), "Quantization table 0x03 was not defined"},
      {"Huffman table with too many codes", with_jpeg_bytes(good, 0xC4, 5, std::string(16, '\xFF')),
       "Bogus Huffman table definition"},
      {"Huffman table with impossible codes", with_jpeg_bytes(good, 0xC4, 5, "\3"), "JPEG: "},
      {"Huffman table 9", with_jpeg_bytes(good, 0xC4, 4, "\x09"), "Bogus DHT index 9"},
      {"Huffman table number", with_jpeg_bytes(good, 0xDA, 6, "\x33"), "Huffman table 0x03 was not defined"},
      {"Huffman table of length 2", inserted_before(good, 0xDA, "\xFF\xC4\0\2"s + "\xFF\xC4\0\4\0\0"s),
       "Bogus marker length"},
      {"scan without components", with_jpeg_bytes(good, 0xDA, 4, "\0"s), "Bogus marker length"},
      {"scan of five components", with_jpeg_bytes(good, 0xDA, 4, "\5"), "Bogus marker length"},
      {"scan of an unknown component", with_jpeg_bytes(good, 0xDA, 5, "\x77"), "Invalid component ID 119"},
      {"progressive band turned round", with_jpeg_bytes(progressive, 0xDA, 11, "\x09\1"),
       "Invalid progressive parameters"},
      {"more than 100 scans", first_scan_repeated(progressive, 100), "more than 100 scans"},
      {"no end", good.substr(0, good.size() - 2), "truncated: the file is incomplete"},
      {"half an end", good.substr(0, good.size() - 1), "truncated: the file is incomplete"},
      {"cut in the data", good.substr(0, (data + good.size()) / 2), "truncated: the file is incomplete"},
      {"cut before the data", good.substr(0, data), "truncated: the file is incomplete"},
      {"no data", good.substr(0, data) + "\xFF\xD9", "premature end of data segment"},
      {"data cut, with an end", good.substr(0, (data + good.size()) / 2) + "\xFF\xD9", "premature end of data segment"},
      {"progressive, cut", progressive.substr(0, progressive.size() * 2 / 3), "truncated: the file is incomplete"},
      {"lost restarts", lost_restarts, "premature end of data segment"},
      {"all restarts lost", restarts.substr(0, first_restart) + "\xFF\xD9", "premature end of data segment"},
      {"comment behind the end of the file", good.substr(0, data - 14) + "\xFF\xFE\xFF\xFFtext", "truncated"},
      {"profile behind the end of the file", "\xFF\xD8\xFF\xE2\xFF\xFFICC_PROFILE", "truncated"},
      {"restart interval of length 5", inserted_before(good, 0xDA, "\xFF\xDD\0\5\0\1\0"s), "Bogus marker length"},
      {"reserved marker", inserted_before(good, 0xDA, "\xFF\x02"), "Unsupported marker type 0x02"},
  };
}

TEST(BadJpeg, EveryKindIsRefusedWithItsReason) {
  const std::string good = test::jpeg_file(60, 90, {});
  ASSERT_NO_THROW(decode_bad_jpeg(good));
  std::vector<BadJpeg> cases = formats_and_frames(good);
  for (BadJpeg& bad : tables_and_scans(good)) cases.push_back(std::move(bad));
  ASSERT_GE(cases.size(), 40u);
  for (const BadJpeg& bad : cases) {
    SCOPED_TRACE(bad.why);
    const std::string message =
        test::cheap_refusal<Error>(bad.bytes.size() + 3 * kFewPixels, [&] { decode_bad_jpeg(bad.bytes); });
    EXPECT_TRUE(message.starts_with("f.jpg: ")) << bad.why << ": " << message;
    EXPECT_NE(message.find(bad.message), std::string::npos) << bad.why << ": " << message;
  }
}

TEST(BadJpeg, AProgressiveFileTakesNoMoreMemoryThanTheLargestImage) {
  constexpr uint64_t kLimit = 24'000'000;
  const char* kSize = "\x13\x24\x13\x21";  // 4,900 x 4,897
  const auto refused = [](const std::string& file) {
    const uint64_t coefficients = 3 * kLimit;
    return test::cheap_refusal<Error>(file.size() + coefficients, [&] {
      decode_image(std::as_bytes(std::span(file)), "f.jpg", {.max_pixels = kLimit});
    });
  };
  const std::string small = test::jpeg_file(20, 20, {.horizontal = 1, .vertical = 1, .progressive = true});
  const std::string large = test::with_jpeg_bytes(small, 0xC2, 5, kSize);
  EXPECT_EQ(refused(large), "f.jpg: JPEG: decoding this progressive file needs more than 132 MiB of memory");
  // With colours at half the height and width it has room, and is refused for what is missing.
  const std::string halved = test::with_jpeg_bytes(test::jpeg_file(20, 20, {.progressive = true}), 0xC2, 5, kSize);
  EXPECT_EQ(refused(halved), "f.jpg: JPEG: Corrupt JPEG data: premature end of data segment");
}

TEST(BadJpeg, ManyScansAreReadUpToTheLimit) {
  const std::string progressive = test::jpeg_file(20, 20, {.progressive = true});
  const auto pixels = [](const std::string& file) {
    return decode_image(std::as_bytes(std::span(file)), "f.jpg", {.max_pixels = kFewPixels}).pixels;
  };
  // The same coarse part again changes nothing.
  EXPECT_TRUE(pixels(first_scan_repeated(progressive, 80)).equal(pixels(progressive)));
}

TEST(BadJpeg, ACutAtAnyByteIsAnError) {
  for (const test::JpegKind& kind : {test::JpegKind{}, test::JpegKind{.progressive = true},
                                     test::JpegKind{.components = 1, .restart_interval = 3}}) {
    const std::string good = test::jpeg_file(21, 34, kind);
    for (size_t size = 0; size < good.size(); ++size) {
      EXPECT_THROW(decode_bad_jpeg(good.substr(0, size)), Error) << size;
    }
  }
}

// Also where only the upper part is decoded.
TEST(BadJpeg, ACutBelowTheWantedPartIsAnError) {
  ImageReadOptions options;
  options.choose = [](const ImageSize&) { return ImageRequest{{4, 4, 8, 8}, {}}; };
  for (const test::JpegKind& kind : {test::JpegKind{}, test::JpegKind{.progressive = true}}) {
    const std::string good = test::jpeg_file(80, 34, kind);
    const auto decode_part = [&](const std::string& file) {
      decode_image(std::as_bytes(std::span(file)), "f.jpg", options);
    };
    EXPECT_NO_THROW(decode_part(good));
    for (size_t size = 0; size < good.size(); ++size) EXPECT_THROW(decode_part(good.substr(0, size)), Error) << size;
  }
}

// A component that is not defined twice, but of files of two components there is no colour space.
TEST(BadJpeg, ColoursOfTwoComponentsAreRefused) {
  std::string file = test::jpeg_file(16, 16, {.horizontal = 1, .vertical = 1});
  const size_t frame = test::jpeg_marker(file, 0xC0);
  file.replace(frame, 19, std::string("\xFF\xC0\0\x0E\x08\0\x10\0\x10\2\1\x11\0\2\x11\1", 16));
  const size_t scan = test::jpeg_marker(file, 0xDA);
  file.replace(scan, 14, std::string("\xFF\xDA\0\x0A\2\1\0\2\x11\0\x3F\0", 12));
  EXPECT_EQ(test::thrown_message<Error>([&] { decode_bad_jpeg(file); }),
            "f.jpg: JPEG: its colour space must be grey, YCbCr, RGB, CMYK or YCCK");
}

}  // namespace
}  // namespace cachet::io
