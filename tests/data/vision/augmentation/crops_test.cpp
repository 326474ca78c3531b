#include "cachet/data/vision/augmentation/crops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace cachet::data {
namespace {

CounterRandom crop_random(int64_t index) { return {3, RandomStream::region, 1, static_cast<uint64_t>(index)}; }

TEST(ResizedCrop, AreaAndAspectAreWithinTheirBoundsAndSpreadOverThem) {
  const ResizedCropOptions options{.least_area = 0.2, .most_area = 0.6};
  const io::ImageSize image{300, 400};
  double least = 1, most = 0, mean = 0, log_aspect = 0;
  constexpr int kDraws = 3000;
  for (int i = 0; i < kDraws; ++i) {
    const io::ImageRegion region = draw_resized_crop(options, image, crop_random(i));
    ASSERT_TRUE(region.fits(image));
    const double share = static_cast<double>(region.height * region.width) / 120'000;
    least = std::min(least, share);
    most = std::max(most, share);
    mean += share / kDraws;
    log_aspect += std::log(static_cast<double>(region.width) / static_cast<double>(region.height)) / kDraws;
  }
  // Sides are rounded to whole pixels, of more than a hundred.
  EXPECT_GE(least, 0.2 * 0.98);
  EXPECT_LE(most, 0.6 * 1.02);
  EXPECT_NEAR(mean, 0.4, 0.01);       // five deviations of 0.115 / √3000
  EXPECT_NEAR(log_aspect, 0, 0.016);  // and of 0.166 / √3000
}

TEST(ResizedCrop, IsAFunctionOfItsKey) {
  const io::ImageSize image{50, 60};
  EXPECT_EQ(draw_resized_crop({}, image, crop_random(1)), draw_resized_crop({}, image, crop_random(1)));
  EXPECT_FALSE(draw_resized_crop({}, image, crop_random(1)) == draw_resized_crop({}, image, crop_random(2)));
}

TEST(ResizedCrop, WhatNeverFitsBecomesTheMiddle) {
  // A whole image of aspect 10 is out of the bounds of 3/4 to 4/3.
  const ResizedCropOptions whole{.least_area = 1, .most_area = 1};
  EXPECT_EQ(draw_resized_crop(whole, {30, 300}, crop_random(0)), (io::ImageRegion{0, 130, 30, 40}));
  EXPECT_EQ(draw_resized_crop(whole, {300, 30}, crop_random(0)), (io::ImageRegion{130, 0, 40, 30}));
  EXPECT_EQ(draw_resized_crop(whole, {1, 1}, crop_random(0)), (io::ImageRegion{0, 0, 1, 1}));
  EXPECT_EQ(draw_resized_crop(whole, {1, 65500}, crop_random(0)), (io::ImageRegion{0, 32749, 1, 1}));
  const ResizedCropOptions square{.least_area = 1, .most_area = 1, .least_aspect = 1, .most_aspect = 1};
  EXPECT_EQ(draw_resized_crop(square, {20, 20}, crop_random(0)), (io::ImageRegion{0, 0, 20, 20}));
}

TEST(CentreCrop, IsThatOfThePublishedEvaluation) {
  // Resize(256), CenterCrop(224) of torchvision: 375 × 500 becomes 256 × 341; (341 − 224) / 2 = 58.5 rounds to 58.
  const CentreCrop crop = centre_crop({375, 500}, 224, 0.875);
  EXPECT_EQ(crop.region, (io::ImageRegion{0, 0, 375, 500}));
  EXPECT_EQ(crop.resized, (io::ImageSize{256, 341}));
  EXPECT_EQ(crop.top, 16);
  EXPECT_EQ(crop.left, 58);
  EXPECT_EQ(centre_crop({500, 375}, 224, 0.875).resized, (io::ImageSize{341, 256}));
  EXPECT_EQ(centre_crop({10, 10}, 384, 1).resized, (io::ImageSize{384, 384}));
  EXPECT_EQ(centre_crop({640, 640}, 224, 0.9).resized, (io::ImageSize{248, 248}));
}

TEST(CentreCrop, OfTwoSidesCoversBoth) {
  // ⌊192 / 0.875⌋ = 219 and ⌊256 / 0.875⌋ = 292: the height decides where the image is wider than that, else the width.
  const CentreCrop wide = centre_crop({375, 600}, {192, 256}, 0.875);
  EXPECT_EQ(wide.region, (io::ImageRegion{0, 0, 375, 600}));
  EXPECT_EQ(wide.resized, (io::ImageSize{219, 350}));
  EXPECT_EQ(wide.top, 14);
  EXPECT_EQ(wide.left, 47);
  EXPECT_EQ(centre_crop({600, 375}, {192, 256}, 0.875).resized, (io::ImageSize{467, 292}));
  EXPECT_EQ(centre_crop({24, 32}, {192, 256}, 1).resized, (io::ImageSize{192, 256}));
  EXPECT_EQ(centre_crop({24, 32}, {256, 192}, 1).resized, (io::ImageSize{256, 341}));
  // An image of the crop's own proportions is shown whole, however long it is; one of other proportions is not.
  EXPECT_EQ(centre_crop({10, 80}, {20, 160}, 1).region, (io::ImageRegion{0, 0, 10, 80}));
  EXPECT_EQ(centre_crop({80, 10}, {20, 160}, 1).region, (io::ImageRegion{37, 0, 5, 10}));
}

TEST(CentreCrop, OfALineIsOfItsMiddle) {
  const CentreCrop crop = centre_crop({1, 65500}, 224, 0.875);
  EXPECT_EQ(crop.region, (io::ImageRegion{0, 32748, 1, 4}));
  EXPECT_EQ(crop.resized, (io::ImageSize{256, 1024}));
  EXPECT_EQ(crop.left, 400);
}

}  // namespace
}  // namespace cachet::data
