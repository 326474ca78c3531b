#include "cachet/io/tensors/image.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/stack.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <stdexcept>

#include "cachet/io/error.h"
#include "cachet/io/tensors/png.h"
#include "tests/support/bytes.h"
#include "tests/support/exif.h"
#include "tests/support/jpeg_files.h"
#include "tests/support/pillow_images.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"

namespace cachet::io {
namespace {

DecodedImage decoded_image(const std::string& file, const ImageReadOptions& options = {}) {
  return decode_image(std::as_bytes(std::span(file)), "f.jpg", options);
}

ImageReadOptions with_request(const ImageRequest& request, ImageChannels channels = ImageChannels::as_stored) {
  ImageReadOptions options;
  options.channels = channels;
  options.choose = [request](const ImageSize&) { return request; };
  return options;
}

std::vector<std::pair<std::string, test::JpegKind>> jpeg_kinds() {
  return {{"4:2:0", {}},
          {"4:4:4", {.horizontal = 1, .vertical = 1}},
          {"4:2:2", {.vertical = 1}},
          {"4:4:0", {.horizontal = 1}},
          {"4:1:1", {.horizontal = 4, .vertical = 1}},
          {"grey", {.components = 1}},
          {"CMYK", {.components = 4}},
          {"YCCK", {.components = 4, .ycck = true}},
          {"progressive", {.progressive = true}},
          {"restarts", {.restart_interval = 2}}};
}

TEST(Jpeg, DecodesAsPillowDoes) {
  ASSERT_GE(test::pillow_images().at("jpeg").size(), 7u);
  for (const auto& fixture : test::pillow_images().at("jpeg")) {
    SCOPED_TRACE(fixture.at("name").get<std::string>());
    const auto bytes = test::decode_base64(fixture.at("file").get<std::string>());
    const DecodedImage image = decode_image(bytes, "f.jpg");
    EXPECT_TRUE(at::equal(image.pixels, test::pixels_of(fixture)));
    EXPECT_EQ(image.size, (ImageSize{image.pixels.size(0), image.pixels.size(1)}));
    EXPECT_EQ(image.warnings, 0);
  }
}

// The part that is decoded is what the whole image has there, to the bit, wherever it lies between blocks.
TEST(Jpeg, DecodesPartsToTheSamePixels) {
  constexpr int64_t kHeight = 61, kWidth = 83;
  for (const auto& [name, kind] : jpeg_kinds()) {
    SCOPED_TRACE(name);
    const std::string file = test::jpeg_file(kHeight, kWidth, kind);
    const at::Tensor whole = decoded_image(file).pixels;
    ASSERT_EQ(whole.size(2), kind.components == 1 ? 1 : 3);
    for (const int64_t top : {0, 1, 15, 16, 17, 32, 60}) {
      for (const int64_t left : {0, 1, 7, 16, 31, 33, 64, 82}) {
        for (const int64_t side : {1, 2, 9, 16, 40}) {
          const ImageRegion region{top, left, std::min(side, kHeight - top), std::min(side, kWidth - left)};
          const DecodedImage part = decoded_image(file, with_request({region, {}}));
          const at::Tensor expected = whole.narrow(0, top, region.height).narrow(1, left, region.width);
          ASSERT_TRUE(at::equal(part.pixels, expected)) << top << ", " << left << ", " << side;
          ASSERT_EQ(part.size, (ImageSize{kHeight, kWidth}));
        }
      }
    }
  }
}

TEST(Jpeg, DecodesSmallerButNotBelowWhatIsWanted) {
  const std::string file = test::jpeg_file(200, 320, {});
  struct Case {
    ImageRequest request;
    int64_t height, width;
  };
  const Case cases[] = {
      {{{0, 0, 200, 320}, {25, 40}}, 25, 40},     {{{0, 0, 200, 320}, {26, 40}}, 50, 80},
      {{{0, 0, 200, 320}, {50, 81}}, 100, 160},   {{{0, 0, 200, 320}, {101, 10}}, 200, 320},
      {{{40, 80, 80, 160}, {20, 40}}, 20, 40},    {{{41, 83, 77, 101}, {30, 30}}, 38, 50},
      {{{199, 319, 1, 1}, {0, 0}}, 1, 1},         {{{192, 312, 8, 8}, {1, 1}}, 1, 1},
      {{{0, 0, 200, 320}, {900, 900}}, 200, 320},
  };
  for (const Case& wanted : cases) {
    const at::Tensor pixels = decoded_image(file, with_request(wanted.request)).pixels;
    EXPECT_EQ(pixels.size(0), wanted.height);
    EXPECT_EQ(pixels.size(1), wanted.width);
  }
  // A scaled image is the mean of blocks of the whole one, but for the rounding of the coefficients.
  const at::Tensor whole = decoded_image(file).pixels.to(at::kFloat);
  const at::Tensor half = decoded_image(file, with_request(cases[2].request)).pixels.to(at::kFloat);
  const at::Tensor means = whole.reshape({100, 2, 160, 2, 3}).mean({1, 3});
  EXPECT_LT(half.sub(means).abs().mean().item<double>(), 2);
}

TEST(Jpeg, GivesTheChannelsThatAreAskedFor) {
  for (const auto& [name, kind] : jpeg_kinds()) {
    SCOPED_TRACE(name);
    const std::string file = test::jpeg_file(24, 31, kind);
    const at::Tensor rgb = decoded_image(file, {.channels = ImageChannels::rgb}).pixels;
    const at::Tensor grey = decoded_image(file, {.channels = ImageChannels::grey}).pixels;
    ASSERT_EQ(rgb.size(2), 3);
    ASSERT_EQ(grey.size(2), 1);
    const at::Tensor luma = (rgb.select(2, 0).to(at::kDouble) * 0.299 + rgb.select(2, 1).to(at::kDouble) * 0.587 +
                             rgb.select(2, 2).to(at::kDouble) * 0.114);
    // Brightness as stored against that of colours which were cut off at 0 and 255.
    EXPECT_LT(luma.sub(grey.select(2, 0).to(at::kDouble)).abs().mean().item<double>(), 1.0);
  }
}

TEST(Jpeg, CountsWarningsAndStopsAtThemWhereStrict) {
  const std::string good = test::jpeg_file(40, 40, {});
  const std::string cases[] = {
      good + "something else", good + good, test::inserted_before(good, 0xDA, "junk"),
      test::with_jpeg_bytes(good, 0xE0, 9, "\x07"),  // an unknown major version of JFIF
  };
  for (const std::string& file : cases) {
    const DecodedImage image = decoded_image(file);
    EXPECT_TRUE(at::equal(image.pixels, decoded_image(good).pixels));
    EXPECT_GE(image.warnings, 1);
    EXPECT_FALSE(image.first_warning.empty());
    const std::string message = test::thrown_message<Error>([&] { decoded_image(file, {.strict = true}); });
    EXPECT_EQ(message, "f.jpg: JPEG: " + image.first_warning);
  }
  EXPECT_EQ(decoded_image(good, {.strict = true}).warnings, 0);
  const std::string commented = test::inserted_before(good, 0xDA, std::string("\xFF\xFE\0\6text", 8));
  const DecodedImage image = decoded_image(commented, {.strict = true});
  EXPECT_TRUE(at::equal(image.pixels, decoded_image(good).pixels)) << "a comment is no fault";
}

TEST(Jpeg, FurtherPicturesOfAnMpoPhotographAreNoFault) {
  const std::string good = test::jpeg_file(40, 40, {});
  const std::string photograph =
      good.substr(0, 2) + test::jpeg_segment(0xE2, std::string("MPF\0II*\0", 8)) + good.substr(2);
  for (const std::string& between : {std::string(), std::string(5, '\0')}) {
    const DecodedImage image = decoded_image(photograph + between + good, {.strict = true});
    EXPECT_TRUE(at::equal(image.pixels, decoded_image(good).pixels));
    EXPECT_EQ(image.warnings, 0);
  }
  EXPECT_EQ(decoded_image(photograph + "something else").warnings, 1);
}

TEST(Jpeg, ReadsArithmeticCoding) {
  for (const bool progressive : {false, true}) {
    for (const unsigned int restarts : {0U, 2U}) {
      const std::string huffman = test::jpeg_file(60, 80, {.progressive = progressive});
      const std::string file =
          test::jpeg_file(60, 80, {.progressive = progressive, .arithmetic = true, .restart_interval = restarts});
      const at::Tensor whole = decoded_image(file).pixels;
      EXPECT_TRUE(at::equal(whole, decoded_image(huffman).pixels)) << "the code loses nothing";
      const ImageRegion region{17, 33, 20, 30};
      EXPECT_TRUE(at::equal(decoded_image(file, with_request({region, {}})).pixels,
                            whole.narrow(0, region.top, region.height).narrow(1, region.left, region.width)));
    }
  }
}

TEST(Jpeg, RefusesRegionsOutsideTheImage) {
  const std::string file = test::jpeg_file(10, 20, {});
  const auto png = encode_png(at::full({10, 20, 3}, 9, at::kByte));
  for (const ImageRegion& region : {ImageRegion{0, 0, 11, 20}, ImageRegion{-1, 0, 2, 2}, ImageRegion{0, 0, 0, 5},
                                    ImageRegion{5, 15, 5, 6}, ImageRegion{INT64_MAX, 0, 1, 1}}) {
    EXPECT_THROW(decoded_image(file, with_request({region, {}})), std::invalid_argument);
    EXPECT_THROW(decode_image(png, "f.png", with_request({region, {}})), std::invalid_argument);
  }
}

TEST(Jpeg, WhatTheChooserThrowsComesThrough) {
  ImageReadOptions options;
  options.choose = [](const ImageSize&) -> ImageRequest { throw std::runtime_error("no wish"); };
  EXPECT_EQ(test::thrown_message<std::runtime_error>([&] { decoded_image(test::jpeg_file(8, 8), options); }),
            "no wish");
}

TEST(Jpeg, RefusalsLeakNothing) {
  const std::string file = test::jpeg_file(64, 64, {.progressive = true});
  const std::string damaged = file.substr(0, file.size() / 2);
  const auto refuse_often = [&] {
    for (int i = 0; i < 200; ++i) EXPECT_THROW(decoded_image(damaged), Error);
  };
  refuse_often();
  const auto before = mallinfo2().uordblks;
  refuse_often();
  // A decoder takes tens of kilobytes; a few blocks are of the test itself.
  EXPECT_LT(mallinfo2().uordblks, before + 20'000);
}

TEST(Image, IsToldByItsContentNotByItsName) {
  const test::TemporaryDirectory folder;
  const auto png = encode_png(at::randint(256, {5, 7, 3}, at::kByte));
  test::write_bytes(folder / "a.jpg", {reinterpret_cast<const char*>(png.data()), png.size()});
  test::write_bytes(folder / "b.png", test::jpeg_file(5, 7));
  for (const char* name : {"a.jpg", "b.png"}) {
    EXPECT_EQ(read_image(folder / name).pixels.sizes(), (std::vector<int64_t>{5, 7, 3})) << name;
  }
  EXPECT_NE(test::thrown_message<Error>([&] { read_image(folder / "none.jpg"); }).find("none.jpg"), std::string::npos);
}

// Colour profiles and gamma are passed over, as Pillow, torchvision and OpenCV do.
TEST(Image, OtherMetadataChangeNoPixel) {
  using namespace std::string_literals;
  const std::string jpeg = test::jpeg_file(20, 30);
  const std::string profiled =
      jpeg.substr(0, 2) + test::jpeg_segment(0xE2, "ICC_PROFILE\0\1\1 a profile"s) + jpeg.substr(2);
  const DecodedImage image = decoded_image(profiled, {.strict = true});
  EXPECT_TRUE(at::equal(image.pixels, decoded_image(jpeg).pixels));
  const at::Tensor pixels = at::randint(256, {9, 6, 3}, at::kByte);
  const std::string png = test::text_of(encode_png(pixels));
  for (const auto& [type, content] : {std::pair{"gAMA"s, "\0\1\x86\xA0"s},
                                      {"sRGB"s, "\0"s},
                                      {"cHRM"s, std::string(32, '\1')},
                                      {"iCCP"s, "name\0\0no profile"s},
                                      {"tIME"s, "1234567"s}}) {
    EXPECT_TRUE(at::equal(decoded_image(test::with_png_chunk(png, type, content), {.strict = true}).pixels, pixels))
        << type;
  }
}

TEST(Image, DecodesPartsAndChannelsOfPng) {
  const at::Tensor rgb = at::randint(256, {9, 6, 3}, at::kByte), grey = at::randint(256, {9, 6, 1}, at::kByte);
  const ImageRequest request{{2, 1, 4, 5}, {1, 1}};
  const auto part = [&](const at::Tensor& image, ImageChannels channels) {
    return decode_image(encode_png(image), "f.png", with_request(request, channels)).pixels;
  };
  const at::Tensor rgb_part = rgb.narrow(0, 2, 4).narrow(1, 1, 5), grey_part = grey.narrow(0, 2, 4).narrow(1, 1, 5);
  EXPECT_TRUE(at::equal(part(rgb, ImageChannels::as_stored), rgb_part));
  EXPECT_TRUE(at::equal(part(grey, ImageChannels::as_stored), grey_part));
  EXPECT_TRUE(at::equal(part(grey, ImageChannels::rgb), grey_part.expand({4, 5, 3})));
  const at::Tensor luma = rgb_part.select(2, 0).to(at::kDouble) * 0.299 +
                          rgb_part.select(2, 1).to(at::kDouble) * 0.587 + rgb_part.select(2, 2).to(at::kDouble) * 0.114;
  EXPECT_LE(part(rgb, ImageChannels::grey).select(2, 0).to(at::kDouble).sub(luma).abs().max().item<double>(), 0.51);
}

}  // namespace
}  // namespace cachet::io
