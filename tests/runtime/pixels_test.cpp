#include "cachet/runtime/pixels.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <array>

#include "cachet/data/vision/pixels/pixel_operations.h"

namespace cachet::runtime {
namespace {

struct Resize {
  int64_t height, width, to_height, to_width;
};

constexpr std::array kFilters{PixelFilter::bilinear, PixelFilter::bicubic, PixelFilter::lanczos};

at::Tensor resized_by_aten(const at::Tensor& batch, const Resize& r, PixelFilter filter) {
  const auto interpolation = filter == PixelFilter::bilinear  ? data::Interpolation::bilinear
                             : filter == PixelFilter::bicubic ? data::Interpolation::bicubic
                                                              : data::Interpolation::lanczos;
  return data::resize_batch(batch, {r.to_height, r.to_width}, interpolation);
}

const std::vector<Resize> kResizes{{7, 9, 3, 20},    {224, 224, 256, 256}, {301, 200, 97, 64},  {1, 40, 5, 5},
                                   {32, 32, 32, 17}, {13, 32, 40, 32},     {480, 640, 256, 341}};

TEST(Resized, HasAtensBitsForBytes) {
  for (const Resize& r : kResizes)
    for (const int64_t channels : {1, 3})
      for (const PixelFilter filter : kFilters) {
        const at::Tensor image = at::randint(256, {r.height, r.width, channels}, at::kByte);
        const Pixels pixels{
            {r.height, r.width}, channels, {image.data_ptr<uint8_t>(), image.data_ptr<uint8_t>() + image.numel()}};
        const Pixels mine = resized(pixels, {r.to_height, r.to_width}, filter);
        const at::Tensor batch = image.permute({2, 0, 1}).unsqueeze(0);
        const at::Tensor theirs = resized_by_aten(batch, r, filter)[0].permute({1, 2, 0}).contiguous();
        ASSERT_EQ(mine.size, (io::ImageSize{r.to_height, r.to_width}));
        const std::vector<uint8_t> expected(theirs.data_ptr<uint8_t>(), theirs.data_ptr<uint8_t>() + theirs.numel());
        EXPECT_EQ(mine.values, expected) << r.height << "x" << r.width << " -> " << r.to_height << "x" << r.to_width;
      }
}

TEST(Resized, HasAtensNumbersForFloats) {
  for (const Resize& r : kResizes)
    for (const PixelFilter filter : kFilters) {
      const at::Tensor image = at::randn({r.height, r.width, 2});
      const Raster<float> raster{
          {r.height, r.width}, 2, {image.data_ptr<float>(), image.data_ptr<float>() + image.numel()}};
      const Raster<float> mine = resized(raster, {r.to_height, r.to_width}, filter);
      const at::Tensor batch = image.permute({2, 0, 1}).unsqueeze(0).contiguous();
      const at::Tensor theirs = resized_by_aten(batch, r, filter);
      const at::Tensor made = at::from_blob(const_cast<float*>(mine.values.data()), {r.to_height, r.to_width, 2})
                                  .permute({2, 0, 1})
                                  .unsqueeze(0);
      EXPECT_LT((made - theirs).abs().max().item<float>(), 2e-5);
    }
}

}  // namespace
}  // namespace cachet::runtime
