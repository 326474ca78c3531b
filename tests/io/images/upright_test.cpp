#include "cachet/io/images/upright.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include "cachet/io/tensors/image.h"
#include "tests/support/exif.h"

namespace cachet::io {
namespace {

// What Pillow 13's ImageOps.exif_transpose makes of 1 2 3 above 4 5 6.
struct Turned {
  int orientation;
  ImageSize size;
  std::vector<uint8_t> pixels;
};
const std::vector<Turned> kTurned{{1, {2, 3}, {1, 2, 3, 4, 5, 6}}, {2, {2, 3}, {3, 2, 1, 6, 5, 4}},
                                  {3, {2, 3}, {6, 5, 4, 3, 2, 1}}, {4, {2, 3}, {4, 5, 6, 1, 2, 3}},
                                  {5, {3, 2}, {1, 4, 2, 5, 3, 6}}, {6, {3, 2}, {4, 1, 5, 2, 6, 3}},
                                  {7, {3, 2}, {6, 3, 5, 2, 4, 1}}, {8, {3, 2}, {3, 6, 2, 5, 1, 4}}};

TEST(Upright, IsWhatPillowMakesOfIt) {
  const std::vector<uint8_t> stored{1, 2, 3, 4, 5, 6};
  for (const Turned& expected : kTurned) {
    SCOPED_TRACE(expected.orientation);
    EXPECT_EQ(upright_size({2, 3}, expected.orientation), expected.size);
    for (const uint32_t channels : {1U, 3U}) {
      std::vector<uint8_t> from, to(channels * 6), wanted;
      for (const uint8_t value : stored) from.insert(from.end(), channels, value);
      for (const uint8_t value : expected.pixels) wanted.insert(wanted.end(), channels, value);
      turn_upright(from.data(), {2, 3, channels}, expected.orientation, to.data());
      EXPECT_EQ(to, wanted);
    }
  }
}

DecodedImage decoded_upright(const std::string& file, ImageChooser choose = {},
                             OrientationRule rule = OrientationRule::apply) {
  ImageReadOptions options;
  options.choose = std::move(choose);
  options.orientation = rule;
  return decode_image(std::as_bytes(std::span(file)), "f.jpg", options);
}

// A part that is decoded alone is what the whole upright image has there.
TEST(Upright, HoldsForPartsOfAnImage) {
  constexpr int64_t kHeight = 61, kWidth = 83;
  const std::string file = test::jpeg_file(kHeight, kWidth);
  const at::Tensor stored = decoded_upright(file).pixels;
  for (const Turned& turned : kTurned) {
    SCOPED_TRACE(turned.orientation);
    const std::string with_exif = test::with_exif(file, static_cast<uint8_t>(turned.orientation));
    const DecodedImage whole = decoded_upright(with_exif);
    EXPECT_EQ(whole.size, upright_size({kHeight, kWidth}, turned.orientation));
    EXPECT_EQ(whole.orientation, turned.orientation);
    for (const int64_t top : {0, 7, 33}) {
      for (const int64_t left : {0, 16, 41}) {
        const ImageRegion region{top, left, 19, 11};
        ImageSize told;
        const DecodedImage part = decoded_upright(with_exif, [&](const ImageSize& size) {
          told = size;
          return ImageRequest{region, {}};
        });
        EXPECT_EQ(told, whole.size);
        EXPECT_EQ(part.size, whole.size);
        EXPECT_TRUE(at::equal(part.pixels, whole.pixels.narrow(0, top, 19).narrow(1, left, 11))) << top << ' ' << left;
      }
    }
    // Scaled down while it is decoded, the long side stays the long one.
    const DecodedImage small = decoded_upright(with_exif, [&](const ImageSize& size) {
      const bool wide = size.width > size.height;
      return ImageRequest{ImageRegion::whole(size), {wide ? 30 : 41, wide ? 41 : 30}};
    });
    EXPECT_EQ(upright_size({small.pixels.size(0), small.pixels.size(1)}, turned.orientation), (ImageSize{31, 42}));
    const DecodedImage ignored = decoded_upright(with_exif, {}, OrientationRule::ignore);
    EXPECT_TRUE(at::equal(ignored.pixels, stored));
    EXPECT_EQ(ignored.orientation, turned.orientation) << "told all the same";
  }
}

}  // namespace
}  // namespace cachet::io
