#include "cachet/io/images/jpeg_encoder.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>

#include "cachet/io/tensors/image.h"
#include "tests/support/thrown_message.h"

namespace cachet::io {
namespace {

TEST(JpegEncoder, MakesFilesThatAreRead) {
  for (const uint32_t channels : {1u, 3u}) {
    std::vector<uint8_t> pixels;
    for (uint32_t i = 0; i < 24 * 40 * channels; ++i)
      pixels.push_back(static_cast<uint8_t>(100 + i / (8 * channels) % 20));
    const auto file = encode_jpeg_rows(pixels.data(), {24, 40, channels}, 95);
    const DecodedImage image = decode_image(file, "x.jpg", {.strict = true});
    ASSERT_EQ(image.pixels.sizes(), (at::IntArrayRef{24, 40, channels}));
    const auto* decoded = image.pixels.const_data_ptr<uint8_t>();
    for (size_t i = 0; i < pixels.size(); ++i) EXPECT_LE(std::abs(pixels[i] - decoded[i]), 8);
    EXPECT_LT(encode_jpeg_rows(pixels.data(), {24, 40, channels}, 10).size(), file.size());
  }
}

TEST(JpegEncoder, RefusesWhatJpegCannotHave) {
  const uint8_t pixel[4]{};
  const auto refusal = [&](const PixelSize& size, int quality) {
    return test::thrown_message<std::invalid_argument>([&] { encode_jpeg_rows(pixel, size, quality); });
  };
  const std::string rule = "; it must have 1 or 3 channels and sides of 1 to 65500 pixels";
  EXPECT_EQ(refusal({1, 1, 1}, 0), "the quality of a JPEG file must be 1 to 100, not 0");
  EXPECT_EQ(refusal({0, 1, 1}, 90), "a JPEG file cannot have 1 × 0 pixels with 1 channels" + rule);
  EXPECT_EQ(refusal({1, 70000, 1}, 90), "a JPEG file cannot have 70000 × 1 pixels with 1 channels" + rule);
  EXPECT_EQ(refusal({1, 1, 2}, 90), "a JPEG file cannot have 1 × 1 pixels with 2 channels" + rule);
}

}  // namespace
}  // namespace cachet::io
