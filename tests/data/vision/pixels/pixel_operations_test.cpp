// Each operation against Pillow's result on the same image.
#include "cachet/data/vision/pixels/pixel_operations.h"

#include <ATen/ops/full.h>
#include <ATen/ops/randint.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "cachet/data/vision/augmentation/rand_augment.h"
#include "tests/support/pillow_images.h"

namespace cachet::data {
namespace {

const std::vector<std::string> kOperationNames{"autocontrast", "equalize",     "invert",  "rotate",      "posterize",
                                               "solarize",     "solarize_add", "colour",  "contrast",    "brightness",
                                               "sharpness",    "shear_x",      "shear_y", "translate_x", "translate_y"};

at::Tensor colour_image() { return test::pixels_of(test::pillow_images().at("image")); }

// Blends, tables and bilinear and bicubic sums are cut off to whole levels behind arithmetic in float32, Pillow's in
// float32 or float64: where a result lies at a whole number, the two may be a level apart.
constexpr int64_t kOneLevel = 1;

TEST(RandAugment, OperationsAreThoseOfPillow) {
  const auto& fixtures = test::pillow_images();
  const auto mean = fixtures.at("mean").get<std::vector<uint8_t>>();
  ASSERT_GE(fixtures.at("operations").size(), 60u);
  int64_t apart = 0, all = 0;
  for (const auto& fixture : fixtures.at("operations")) {
    const auto name = fixture.at("name").get<std::string>();
    const bool is_colour = fixture.at("mode") == "RGB";
    SCOPED_TRACE(name + " " + fixture.at("mode").get<std::string>() + " " + fixture.at("magnitude").dump());
    const at::Tensor image = test::pixels_of(fixtures.at(is_colour ? "image" : "grey_image"));
    const auto which = std::ranges::find(kOperationNames, name) - kOperationNames.begin();
    ASSERT_LT(which, kRandAugmentOperations);
    const AffineStyle style{fixture.at("bicubic").get<bool>() ? Interpolation::bicubic : Interpolation::bilinear,
                            {mean[0], mean[1], mean[2]}};
    const at::Tensor before = image.clone();
    const at::Tensor changed =
        apply_operation(image, static_cast<RandAugmentOperation>(which), fixture.at("magnitude").get<double>(),
                        fixture.at("opposite").get<bool>(), fixture.at("increasing").get<bool>(), style);
    const at::Tensor expected = test::pixels_of(fixture.at("values").get<std::string>(), image.sizes());
    EXPECT_LE(test::levels_apart(changed, expected), kOneLevel);
    EXPECT_TRUE(image.equal(before)) << "the image itself is left alone";
    apart += changed.ne(expected).sum().item<int64_t>();
    all += changed.numel();
  }
  EXPECT_LT(static_cast<double>(apart), 0.001 * static_cast<double>(all)) << "values that are not the same at all";
}

TEST(PixelOperations, HueIsTurnedAsPillowsHsvDoes) {
  for (const auto& fixture : test::pillow_images().at("hues")) {
    at::Tensor image = colour_image();
    adjust_hue(image, fixture.at("share").get<double>());
    const at::Tensor expected = test::pixels_of(fixture.at("values").get<std::string>(), image.sizes());
    EXPECT_LE(test::levels_apart(image, expected), kOneLevel) << fixture.at("share");
  }
}

TEST(PixelOperations, GreyHasNeitherHueNorSaturation) {
  const at::Tensor image = at::randint(256, {4, 5, 1}, at::kByte);
  at::Tensor changed = image.clone();
  adjust_hue(changed, 0.3);
  adjust_saturation(changed, 0.1);
  EXPECT_TRUE(changed.equal(image));
}

const std::map<std::string, Interpolation> kFilters{
    {"bilinear", Interpolation::bilinear}, {"bicubic", Interpolation::bicubic}, {"lanczos", Interpolation::lanczos}};

TEST(PixelOperations, ResizingIsThatOfPillow) {
  for (const auto& fixture : test::pillow_images().at("resizes")) {
    const at::Tensor expected = test::pixels_of(fixture);
    const auto interpolation = kFilters.at(fixture.at("filter").get<std::string>());
    const at::Tensor resized = resize_pixels(colour_image(), {expected.size(0), expected.size(1)}, interpolation);
    // ATen's weights of 16 bits against Pillow's of 22.
    EXPECT_LE(test::levels_apart(resized, expected), kOneLevel) << expected.sizes();
    EXPECT_TRUE(resized.is_contiguous());
  }
}

TEST(PixelOperations, MirroringSwapsColumns) {
  for (const int64_t width : {1, 2, 5, 6}) {
    const at::Tensor image = at::randint(256, {3, width, 3}, at::kByte);
    at::Tensor mirrored = image.clone();
    mirror_pixels(mirrored);
    EXPECT_TRUE(mirrored.equal(image.flip({1})));
  }
}

// One colour, one pixel, one line: nothing to divide by.
TEST(PixelOperations, WorkOnTheSmallestImages) {
  for (const auto& shape : {std::vector<int64_t>{1, 1, 3}, {1, 7, 3}, {2, 1, 1}, {2, 2, 3}}) {
    const at::Tensor image = at::full(shape, 77, at::kByte);
    for (int64_t which = 0; which < kRandAugmentOperations; ++which) {
      const at::Tensor changed = apply_operation(image, static_cast<RandAugmentOperation>(which), 10, false, true, {});
      EXPECT_EQ(changed.sizes(), image.sizes()) << which;
    }
    at::Tensor same = image.clone();
    autocontrast(same);
    equalize(same);
    adjust_sharpness(same, 1.9);
    adjust_contrast(same, 0.1);
    EXPECT_TRUE(same.equal(image));
    EXPECT_TRUE(resize_pixels(image, {5, 4}, Interpolation::bicubic).eq(77).all().item<bool>());
  }
}

}  // namespace
}  // namespace cachet::data
