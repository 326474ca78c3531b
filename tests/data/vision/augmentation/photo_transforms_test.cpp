// Transforms of images that each have a size of their own, and of colours.
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "cachet/data/vision/augmentation/color_jitter.h"
#include "cachet/data/vision/augmentation/crops.h"
#include "cachet/data/vision/augmentation/random_erasing.h"
#include "cachet/data/vision/image_transform.h"
#include "cachet/data/vision/pixels/pixel_operations.h"

namespace cachet::data {
namespace {

constexpr ImageShape kPhotos{3, 0, 0};
const Normalization kPhotoNormalization{{0.485, 0.456, 0.406}, {0.229, 0.224, 0.225}};

at::Tensor photo(int64_t height, int64_t width) { return at::randint(256, {1, 3, height, width}, at::kByte); }

at::Tensor shown(const ImageTransform& transform, const at::Tensor& image, int64_t index = 0) {
  const ImageShape shape = transform.sample_shape();
  at::Tensor out = at::empty({shape.channels, shape.height, shape.width}, at::kFloat);
  transform.apply(StoredImages(image), 0, {7, 2, static_cast<uint64_t>(index)}, out.mutable_data_ptr<float>());
  return out;
}

at::Tensor bytes_of(const at::Tensor& normalized) {
  at::Tensor out = normalized.clone();
  for (int64_t c = 0; c < 3; ++c) {
    out[c].mul_(kPhotoNormalization.std[static_cast<size_t>(c)]).add_(kPhotoNormalization.mean[static_cast<size_t>(c)]);
  }
  return out.mul_(255).round_().to(at::kByte).permute({1, 2, 0});
}

TEST(PhotoTransform, ResizedCropIsTheRegionResized) {
  const at::Tensor image = photo(50, 70);
  const ImageTransform transform(kPhotos, kPhotoNormalization, {.crop = CropKind::resized}, {.image_size = 24});
  for (int64_t index = 0; index < 20; ++index) {
    const io::ImageRegion region =
        draw_resized_crop({}, {50, 70}, {7, RandomStream::region, 2, static_cast<uint64_t>(index)});
    const at::Tensor part = image[0]
                                .narrow(1, region.top, region.height)
                                .narrow(2, region.left, region.width)
                                .permute({1, 2, 0})
                                .contiguous();
    const at::Tensor expected = resize_pixels(part, {24, 24}, Interpolation::bicubic);
    EXPECT_TRUE(bytes_of(shown(transform, image, index)).equal(expected)) << index;
  }
}

TEST(PhotoTransform, EvaluationShowsTheMiddle) {
  const at::Tensor image = photo(45, 60);
  const auto transform =
      ImageTransform::for_evaluation(kPhotos, kPhotoNormalization, {.image_size = 28, .crop_fraction = 0.875});
  const at::Tensor resized = resize_pixels(image[0].permute({1, 2, 0}).contiguous(), {32, 42}, Interpolation::bicubic);
  EXPECT_TRUE(bytes_of(shown(transform, image)).equal(resized.narrow(0, 2, 28).narrow(1, 7, 28)));
}

TEST(PhotoTransform, TakesASizeThatIsNotSquare) {
  const at::Tensor image = photo(45, 60), pixels = image[0].permute({1, 2, 0}).contiguous();
  const auto evaluation =
      ImageTransform::for_evaluation(kPhotos, kPhotoNormalization, {.image_size = {14, 28}, .crop_fraction = 0.875});
  EXPECT_EQ(evaluation.output_shape(), (ImageShape{3, 14, 28}));
  const at::Tensor middle = resize_pixels(pixels, {24, 32}, Interpolation::bicubic).narrow(0, 5, 14).narrow(1, 2, 28);
  EXPECT_TRUE(bytes_of(shown(evaluation, image)).equal(middle));

  const ImageTransform training(kPhotos, kPhotoNormalization, {.crop = CropKind::resized}, {.image_size = {14, 28}});
  const io::ImageRegion region = draw_resized_crop({}, {45, 60}, {7, RandomStream::region, 2, 0});
  const at::Tensor part = pixels.narrow(0, region.top, region.height).narrow(1, region.left, region.width).contiguous();
  EXPECT_TRUE(bytes_of(shown(training, image)).equal(resize_pixels(part, {14, 28}, Interpolation::bicubic)));

  // Images of one size, resized as a batch, and the middle of such images in their own proportions.
  const auto batch = ImageTransform::for_evaluation({3, 8, 9}, kPhotoNormalization, {.image_size = {4, 6}});
  EXPECT_EQ(batch.resize(at::rand({2, 3, 8, 9})).sizes(), (std::vector<int64_t>{2, 3, 4, 6}));
  const ImageTransform own({3, 8, 9}, kPhotoNormalization, {.crop = CropKind::centre}, {.crop_fraction = 0.5});
  EXPECT_EQ(shown(own, photo(8, 9)).sizes(), (std::vector<int64_t>{3, 8, 9}));
}

TEST(PhotoTransform, ImagesOfAnySizeFit) {
  const ImageTransform training(kPhotos, kPhotoNormalization,
                                {.flip = 0.5,
                                 .crop = CropKind::resized,
                                 .jitter = {0.4, 0.4, 0.4, 0.1},
                                 .rand_augment = {.operations = 2},
                                 .erasing = {.probability = 0.5, .mode = ErasingMode::pixel}},
                                {.image_size = 32});
  const auto evaluation =
      ImageTransform::for_evaluation(kPhotos, kPhotoNormalization, {.image_size = 32, .crop_fraction = 0.875});
  for (const auto& [height, width] : {std::pair{1, 1}, {1, 300}, {300, 1}, {5, 7}, {31, 33}, {200, 90}}) {
    const at::Tensor image = photo(height, width);
    for (int64_t index = 0; index < 10; ++index) {
      EXPECT_TRUE(shown(training, image, index).isfinite().all().item<bool>()) << height << " x " << width;
    }
    EXPECT_EQ(shown(evaluation, image).sizes(), (std::vector<int64_t>{3, 32, 32}));
  }
}

TEST(PhotoTransform, ImagesOfOneSizeMayBeCroppedSoToo) {
  const ImageShape small{3, 8, 8};
  const ImageTransform transform(small, kPhotoNormalization, {.crop = CropKind::resized}, {.image_size = 20});
  EXPECT_EQ(transform.sample_shape(), (ImageShape{3, 20, 20}));
  const ImageTransform own_size(small, kPhotoNormalization, {.crop = CropKind::resized});
  EXPECT_EQ(own_size.sample_shape(), small);
  const auto whole = ImageTransform::for_evaluation(small, kPhotoNormalization, {.image_size = 20});
  EXPECT_EQ(whole.sample_shape(), small) << "resized as a batch";
  const auto middle =
      ImageTransform::for_evaluation(small, kPhotoNormalization, {.image_size = 20, .crop_fraction = 0.5});
  EXPECT_EQ(middle.sample_shape(), (ImageShape{3, 20, 20}));
}

TEST(PhotoTransform, TurningOneAugmentationOnLeavesTheOthersAlone) {
  const at::Tensor image = photo(40, 40);
  AugmentationOptions options{.flip = 0.5, .crop = CropKind::resized};
  const ImageTransform plain(kPhotos, kPhotoNormalization, options, {.image_size = 16});
  options.rand_augment = {.operations = 2, .probability = 0};
  options.jitter.brightness = 1e-9;
  const ImageTransform more(kPhotos, kPhotoNormalization, options, {.image_size = 16});
  for (int64_t index = 0; index < 20; ++index) {
    // A factor that is not quite 1 cuts values off a level below.
    const at::Tensor apart =
        bytes_of(shown(more, image, index)).to(at::kInt) - bytes_of(shown(plain, image, index)).to(at::kInt);
    EXPECT_LE(apart.abs().max().item<int>(), 1) << index;
  }
}

TEST(PhotoTransform, RefusesWhatCannotApply) {
  const ResizeOptions size{.image_size = 16};
  EXPECT_THROW(ImageTransform(kPhotos, kPhotoNormalization, {}, size), std::invalid_argument);
  EXPECT_THROW(ImageTransform(kPhotos, kPhotoNormalization, {.crop = CropKind::resized}), std::invalid_argument);
  const Normalization two{{0, 0}, {1, 1}};
  EXPECT_THROW(ImageTransform({2, 8, 8}, two, {.jitter = {.hue = 0.1}}), std::invalid_argument);
  EXPECT_THROW(ImageTransform({2, 8, 8}, two, {.rand_augment = {.operations = 1}}), std::invalid_argument);
}

TEST(RandAugmentPolicy, DrawsOperationsByTheirProbability) {
  const at::Tensor image = at::randint(256, {12, 12, 3}, at::kByte);
  int changed = 0;
  constexpr int kDraws = 1000;
  for (int i = 0; i < kDraws; ++i) {
    const at::Tensor result =
        rand_augment(image.clone(), {.operations = 2}, {}, {1, RandomStream::policy, 0, static_cast<uint64_t>(i)})
            .image;
    changed += !result.equal(image);
  }
  // Three of four draw one operation or two; on noise autocontrast, and equalize by little, may change nothing.
  EXPECT_GT(changed, 0.6 * kDraws);
  EXPECT_LT(changed, 0.8 * kDraws);
}

// The largest magnitude rotates by 30 degrees and moves by 0.45 of a side. A drawn one that is larger is taken as it:
// half of those with a deviation.
TEST(RandAugmentPolicy, MagnitudesStayWithinTheirScale) {
  const at::Tensor image = at::full({6, 8, 3}, 128, at::kByte);
  for (const double deviation : {0.0, 10.0}) {
    const RandAugmentOptions options{.operations = 1, .magnitude = 10, .deviation = deviation, .probability = 1};
    double least_cosine = 1, farthest = 0;
    for (uint64_t i = 0; i < 600; ++i) {
      const AffineMap map = rand_augment(image.clone(), options, {}, {1, RandomStream::policy, 0, i}).map;
      least_cosine = std::min(least_cosine, map.xx);
      farthest = std::max(farthest, std::abs(map.x0));
    }
    EXPECT_NEAR(least_cosine, std::cos(std::numbers::pi / 6), 1e-12) << "deviation " << deviation;
    EXPECT_NEAR(farthest, 0.45 * 8, 1e-12) << "deviation " << deviation;
  }
}

TEST(ColorJitter, FactorsAreWithinTheirSpreadInEveryOrder) {
  const at::Tensor grey = at::full({2, 2, 3}, 100, at::kByte);
  int64_t least = 255, most = 0;
  for (uint64_t i = 0; i < 500; ++i) {
    at::Tensor image = grey.clone();
    jitter_colours(image, {.brightness = 0.4}, {1, RandomStream::colour, 0, i});
    least = std::min(least, image[0][0][0].item<int64_t>());
    most = std::max(most, image[0][0][0].item<int64_t>());
  }
  EXPECT_GE(least, 59);
  EXPECT_LE(least, 62);
  EXPECT_GE(most, 138);
  EXPECT_LE(most, 140);
  at::Tensor same = at::randint(256, {5, 5, 3}, at::kByte);
  const at::Tensor before = same.clone();
  jitter_colours(same, {}, {1, RandomStream::colour, 0, 0});
  EXPECT_TRUE(same.equal(before));
}

TEST(RandomErasing, PixelModeIsNormalNoise) {
  constexpr ImageShape kErased{3, 60, 60};
  double sum = 0, squares = 0;
  int64_t count = 0;
  for (uint64_t i = 0; i < 30; ++i) {
    at::Tensor image = at::full({3, 60, 60}, 100, at::kFloat);
    erase_rectangle(image.mutable_data_ptr<float>(), kErased, {.probability = 1, .mode = ErasingMode::pixel},
                    {1, RandomStream::augmentation, 0, i}, {1, RandomStream::noise, 0, i});
    const at::Tensor noise = image.masked_select(image.ne(100));
    EXPECT_EQ(noise.numel() % 3, 0);
    sum += noise.sum().item<double>();
    squares += noise.square().sum().item<double>();
    count += noise.numel();
  }
  ASSERT_GT(count, 30'000);
  EXPECT_NEAR(sum / static_cast<double>(count), 0, 0.03);  // five deviations of 1 / √30000
  EXPECT_NEAR(squares / static_cast<double>(count), 1, 0.045);
}

TEST(Thumbnails, FitTheirSide) {
  const StoredImages images(photo(30, 200));
  EXPECT_EQ(thumbnail(images, 0, 50).sizes(), (std::vector<int64_t>{7, 50, 3}));
  EXPECT_TRUE(thumbnail(images, 0, 300).equal(images.image(0).permute({1, 2, 0})));
}

}  // namespace
}  // namespace cachet::data
