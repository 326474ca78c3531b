#include "cachet/tasks/samples/page_picture.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/randint.h>
#include <gtest/gtest.h>

#include "cachet/io/tensors/image.h"
#include "cachet/io/tensors/png.h"
#include "cachet/report/charts/image_grid.h"
#include "tests/support/bytes.h"

namespace cachet::tasks {
namespace {

TEST(PagePicture, SmallOnesKeepEveryPixel) {
  for (const int64_t channels : {1, 3}) {
    const at::Tensor pixels = at::randint(256, {64, 20, channels}, at::kByte);
    EXPECT_TRUE(io::decode_png(test::bytes_of(page_picture(pixels, 128)), "picture").equal(pixels));
  }
}

TEST(PagePicture, LargeOnesAreMadeSmallerInProportion) {
  const at::Tensor ramp = at::arange(200).view({1, 200, 1}).expand({300, 200, 3}).to(at::kByte).contiguous();
  const std::string file = page_picture(ramp, 120);
  EXPECT_TRUE(report::image_address(file).starts_with("data:image/jpeg;base64,"));
  const at::Tensor shown = io::decode_image(test::bytes_of(file), "picture").pixels;
  ASSERT_EQ(shown.sizes(), (std::vector<int64_t>{120, 80, 3}));
  // Of a plain ramp resizing and JPEG leave the level of each column within a few values.
  EXPECT_NEAR(shown.select(1, 40).to(at::kFloat).mean().item<double>(), 101, 4);
}

// Noise is what takes most room.
TEST(PagePicture, SixteenOfThemAreAFewHundredKilobytesAtMost) {
  for (const int64_t side : {64, 224}) {
    const at::Tensor noise = at::randint(256, {side, side, 3}, at::kByte);
    EXPECT_LT(16 * report::image_address(page_picture(noise, 128)).size(), 300'000u) << side;
  }
}

}  // namespace
}  // namespace cachet::tasks
