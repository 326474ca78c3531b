#include "cachet/data/vision/image_transform.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linspace.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/reflection_pad2d.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "cachet/data/vision/pixels/pixel_operations.h"
#include "cachet/io/error.h"
#include "cachet/io/tensors/png.h"
#include "tests/support/bytes.h"
#include "tests/support/temporary_directory.h"

namespace cachet::data {
namespace {

constexpr ImageShape kShape{2, 9, 7};
const Normalization kNormalization{{0.25, 0.5}, {0.5, 0.125}};

at::Tensor noise_image(const ImageShape& shape = kShape) {
  return at::randint(0, 256, {shape.channels, shape.height, shape.width}, at::kByte);
}

SampleRandom random_for(int64_t index) { return {5, 3, static_cast<uint64_t>(index)}; }

at::Tensor applied(const ImageTransform& transform, const at::Tensor& image, int64_t index) {
  const ImageShape shape = transform.sample_shape();
  at::Tensor out = at::empty({shape.channels, shape.height, shape.width}, at::kFloat);
  transform.apply(StoredImages(image.unsqueeze(0)), 0, random_for(index), out.mutable_data_ptr<float>());
  return out;
}

at::Tensor normalized(const at::Tensor& image) {
  at::Tensor out = image.to(at::kDouble).div(255);
  out[0].sub_(0.25).div_(0.5);
  out[1].sub_(0.5).div_(0.125);
  return out.to(at::kFloat);
}

// One multiply-add in float32 of values up to 8 against division in float64: a few units in the last place.
constexpr double kNormalizationTolerance = 4e-6;

TEST(ImageTransform, NormalisesAndDoesNothingElseByDefault) {
  const at::Tensor image = noise_image();
  const ImageTransform transform(kShape, kNormalization);
  EXPECT_TRUE(applied(transform, image, 0).allclose(normalized(image), 0, kNormalizationTolerance));
  EXPECT_TRUE(applied(transform, image, 0).equal(applied(transform, image, 1)));
  EXPECT_EQ(transform.output_shape(), kShape);
}

// ATen's padding, slicing and flipping, fed with the same decisions, give the same image.
TEST(ImageTransform, FlipsAndCropsLikeAten) {
  for (const CropFill fill : {CropFill::zero, CropFill::reflect}) {
    const AugmentationOptions options{.flip = 0.5, .crop_padding = 4, .crop_fill = fill};
    const ImageTransform transform(kShape, kNormalization, options);
    for (int64_t index = 0; index < 200; ++index) {
      const at::Tensor image = noise_image();
      CounterRandom random = random_for(index).stream(RandomStream::augmentation);
      const bool mirrored = random.chance(0.5);
      const auto top = static_cast<int64_t>(random.below(9));
      const auto left = static_cast<int64_t>(random.below(9));
      const at::Tensor padded = fill == CropFill::zero
                                    ? at::constant_pad_nd(image, {4, 4, 4, 4}, 0)
                                    : at::reflection_pad2d(image.to(at::kInt), {4, 4, 4, 4}).to(at::kByte);
      at::Tensor expected = padded.narrow(1, top, kShape.height).narrow(2, left, kShape.width);
      if (mirrored) expected = expected.flip({2});
      ASSERT_TRUE(applied(transform, image, index).allclose(normalized(expected), 0, kNormalizationTolerance)) << index;
    }
  }
}

TEST(ImageTransform, FlipsAsOftenAsAsked) {
  const at::Tensor image = at::arange(2 * 9 * 7, at::kByte).view({2, 9, 7});
  const at::Tensor plain = applied(ImageTransform(kShape, kNormalization), image, 0);
  for (const double probability : {0.0, 0.25, 1.0}) {
    const ImageTransform transform(kShape, kNormalization, {.flip = probability});
    int flips = 0;
    for (int64_t index = 0; index < 2000; ++index) flips += !applied(transform, image, index).equal(plain);
    EXPECT_NEAR(flips, 2000 * probability, 5 * std::sqrt(2000 * probability * (1 - probability)));
  }
}

TEST(ImageTransform, ASampleDependsOnItsKeyAlone) {
  const ImageTransform transform(kShape, kNormalization,
                                 {.flip = 0.5, .crop_padding = 3, .erasing = {.probability = 0.5}});
  const at::Tensor image = noise_image();
  const at::Tensor first = applied(transform, image, 8);
  int differing = 0;
  for (int64_t index = 9; index < 30; ++index) differing += !applied(transform, image, index).equal(first);
  EXPECT_GT(differing, 15);
  EXPECT_TRUE(applied(transform, image, 8).equal(first));
}

TEST(ImageTransform, ErasesARectangleOfTheAskedArea) {
  constexpr ImageShape kLarge{2, 40, 40};
  const ImageTransform transform(kLarge, kNormalization,
                                 {.erasing = {.probability = 1, .least_area = 0.1, .most_area = 0.3}});
  const at::Tensor image = noise_image(kLarge).fill_(255);
  for (int64_t index = 0; index < 100; ++index) {
    const at::Tensor erased = applied(transform, image, index).eq(0);
    EXPECT_TRUE(erased[0].equal(erased[1]));
    const at::Tensor places = erased[0].nonzero();
    const at::Tensor sides = std::get<0>(places.max(0)).sub(std::get<0>(places.min(0))).add(1);
    const int64_t area = sides.prod().item<int64_t>();
    EXPECT_EQ(erased[0].sum().item<int64_t>(), area) << "not a rectangle";
    // Both sides are rounded to whole pixels: at most half a pixel on sides of 7 and more.
    EXPECT_GE(area, 0.1 * 1600 * 0.85);
    EXPECT_LE(area, 0.3 * 1600 * 1.15);
  }
}

TEST(ImageTransform, TurningErasingOnLeavesFlipAndCropAlone) {
  const at::Tensor image = noise_image();
  AugmentationOptions options{.flip = 0.5, .crop_padding = 3};
  const ImageTransform without(kShape, kNormalization, options);
  options.erasing.probability = 1;
  const ImageTransform with(kShape, kNormalization, options);
  for (int64_t index = 0; index < 20; ++index) {
    const at::Tensor erased = applied(with, image, index);
    const at::Tensor kept = erased.ne(0);
    EXPECT_TRUE(erased.masked_select(kept).equal(applied(without, image, index).masked_select(kept)));
  }
}

TEST(ImageTransform, ResizesBatchesToTheModelsSize) {
  const at::Tensor batch = at::linspace(0, 1, 7, at::kFloat).expand({3, 2, 9, 7}).contiguous();
  const ImageTransform same(kShape, kNormalization);
  EXPECT_TRUE(same.resize(batch).is_same(batch));
  for (const Interpolation interpolation : {Interpolation::bilinear, Interpolation::bicubic, Interpolation::lanczos}) {
    const ImageTransform transform(kShape, kNormalization, {}, {.image_size = 14, .interpolation = interpolation});
    EXPECT_EQ(transform.output_shape(), (ImageShape{2, 14, 14}));
    const at::Tensor resized = transform.resize(batch);
    EXPECT_EQ(resized.sizes(), (std::vector<int64_t>{3, 2, 14, 14}));
    // Away from the border a ramp stays the same ramp: pixel x of 14 lies at (x + 0.5) / 2 − 0.5 of 7.
    EXPECT_NEAR(resized[1][1][5][7].item<double>(), (7.5 / 2 - 0.5) / 6, 0.01);
    EXPECT_TRUE(resized[0].equal(resized[2]));
  }
}

void write_png(const std::filesystem::path& file, const at::Tensor& image) {
  const auto bytes = io::encode_png(image.permute({1, 2, 0}).contiguous());
  test::write_bytes(file, std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

// A file of a user beside the same image in the data set, for every way in which evaluation shows images.
TEST(ImageTransform, AFileIsShownAsASampleOfTheData) {
  const test::TemporaryDirectory folder;
  for (const int64_t channels : {1, 3}) {
    const at::Tensor image = noise_image({channels, 24, 20});
    const auto file = folder / "image.png";
    write_png(file, image);
    const Normalization normalization{std::vector<double>(static_cast<size_t>(channels), 0.4),
                                      std::vector<double>(static_cast<size_t>(channels), 0.3)};
    for (const auto interpolation : {Interpolation::bilinear, Interpolation::bicubic, Interpolation::lanczos}) {
      for (const double fraction : {1.0, 0.875}) {
        for (const ImageShape& input : {ImageShape{channels, 24, 20}, ImageShape{channels, 0, 0}}) {
          const ResizeOptions resize{.image_size = 14, .interpolation = interpolation, .crop_fraction = fraction};
          const auto transform = ImageTransform::for_evaluation(input, normalization, resize);
          const ImageShape shape = transform.sample_shape();
          at::Tensor expected = at::empty({1, shape.channels, shape.height, shape.width}, at::kFloat);
          transform.apply(StoredImages(image.unsqueeze(0)), 0, {}, expected.mutable_data_ptr<float>());
          EXPECT_TRUE(transform.of_file(file).equal(transform.resize(expected)))
              << channels << " " << fraction << " " << input.height;
        }
      }
    }
  }
}

TEST(ImageTransform, AFileOfAnotherSizeIsResizedToTheDataAsTheRecipeSays) {
  const test::TemporaryDirectory folder;
  const at::Tensor image = noise_image({3, 50, 30});
  write_png(folder / "image.png", image);
  const Normalization plain{{0, 0, 0}, {1, 1, 1}};
  for (const auto interpolation : {Interpolation::bilinear, Interpolation::bicubic, Interpolation::lanczos}) {
    const auto transform = ImageTransform::for_evaluation({3, 16, 16}, plain, {.interpolation = interpolation});
    const at::Tensor expected = resize_pixels(image.permute({1, 2, 0}).contiguous(), {16, 16}, interpolation);
    const at::Tensor shown = transform.of_file(folder / "image.png");
    EXPECT_TRUE(shown[0].mul(255).round().to(at::kByte).permute({1, 2, 0}).equal(expected));
  }
}

TEST(ImageTransform, AFileTakesTheChannelsOfTheData) {
  const test::TemporaryDirectory folder;
  const at::Tensor image = noise_image({3, 16, 16});
  write_png(folder / "image.png", image);
  const auto grey = ImageTransform::for_evaluation({1, 16, 16}, {{0}, {1}}, {});
  EXPECT_EQ(grey.of_file(folder / "image.png").sizes(), (std::vector<int64_t>{1, 1, 16, 16}));
  EXPECT_THROW(grey.of_file(folder / "none.png"), io::Error);
  const auto two = ImageTransform::for_evaluation({2, 16, 16}, {{0, 0}, {1, 1}}, {});
  EXPECT_THROW(two.of_file(folder / "image.png"), std::invalid_argument);
}

TEST(ImageTransform, RefusesWhatCannotApply) {
  EXPECT_THROW(ImageTransform({1, 9, 7}, kNormalization), std::invalid_argument);
  EXPECT_THROW(ImageTransform(kShape, kNormalization, {.crop_padding = 7, .crop_fill = CropFill::reflect}),
               std::invalid_argument);
  EXPECT_NO_THROW(ImageTransform(kShape, kNormalization, {.crop_padding = 6, .crop_fill = CropFill::reflect}));
}

TEST(ImageTransform, CropsBeyondTheImageAreBlack) {
  const ImageTransform transform(kShape, kNormalization, {.crop_padding = 100});
  const at::Tensor image = noise_image().fill_(255);
  const at::Tensor black = normalized(at::zeros_like(image));
  int empty = 0;
  for (int64_t index = 0; index < 50; ++index) {
    empty += applied(transform, image, index).allclose(black, 0, kNormalizationTolerance);
  }
  EXPECT_GT(empty, 25);
}

}  // namespace
}  // namespace cachet::data
