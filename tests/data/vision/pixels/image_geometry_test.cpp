#include "cachet/data/vision/pixels/image_geometry.h"

#include <ATen/TensorIndexing.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>

#include "cachet/data/vision/image_transform.h"

namespace cachet::data {
namespace {

constexpr double kRounding = 1e-9;  // of a few products of doubles below 1000

void expect_near(const ImagePoint& found, const ImagePoint& expected) {
  EXPECT_NEAR(found.x, expected.x, kRounding);
  EXPECT_NEAR(found.y, expected.y, kRounding);
}

TEST(ImageGeometry, StepsFollowEachOther) {
  ImageGeometry geometry = ImageGeometry::of({100, 200});
  expect_near(geometry.in_result(ImagePoint{3, 4}), {3, 4});
  geometry.crop({10, 20, 50, 100});  // from (x, y) = (20, 10)
  expect_near(geometry.in_result(ImagePoint{20, 10}), {0, 0});
  geometry.resize({25, 200});
  expect_near(geometry.in_result(ImagePoint{21, 12}), {2, 1});
  geometry.mirror();
  expect_near(geometry.in_result(ImagePoint{21, 12}), {198, 1});
  geometry.crop({-5, -7, 40, 220});  // padding above and on the left
  expect_near(geometry.in_result(ImagePoint{21, 12}), {205, 6});
  EXPECT_EQ(geometry.original, (io::ImageSize{100, 200}));
  EXPECT_EQ(geometry.result, (io::ImageSize{40, 220}));
  expect_near(geometry.in_original(ImagePoint{205, 6}), {21, 12});
}

TEST(ImageGeometry, BoxesStayUprightAndAreCutToTheImage) {
  ImageGeometry geometry = ImageGeometry::of({10, 20});
  geometry.mirror();
  const ImageBox box = geometry.in_result(ImageBox{2, 3, 7, 5});
  EXPECT_EQ(box.left, 13);
  EXPECT_EQ(box.right, 18);
  EXPECT_EQ(box.top, 3);
  EXPECT_EQ(box.bottom, 5);
  const ImageBox back = geometry.in_original(box);
  EXPECT_EQ(back.left, 2);
  EXPECT_EQ(back.right, 7);
  const ImageBox cut = within({-4, 3, 7, 30}, {10, 20});
  EXPECT_EQ(cut.left, 0);
  EXPECT_EQ(cut.bottom, 10);
  EXPECT_TRUE(within({25, 3, 30, 5}, {10, 20}).empty());
}

TEST(ImageGeometry, TurnedBoxesHoldTheirCorners) {
  ImageGeometry geometry = ImageGeometry::of({10, 10});
  geometry.warp(AffineMap::rotation(90, 10, 10));
  const ImageBox box = geometry.in_result(ImageBox{5, 5, 9, 7});
  // Counter-clockwise about the middle: what lay on the right lies above.
  EXPECT_NEAR(box.left, 5, kRounding);
  EXPECT_NEAR(box.right, 7, kRounding);
  EXPECT_NEAR(box.top, 1, kRounding);
  EXPECT_NEAR(box.bottom, 5, kRounding);
}

// An image with one white square on black, which transforms show elsewhere: where the geometry says.
constexpr int64_t kSide = 90, kSquare = 12;

struct Shown {
  at::Tensor image;  // (H, W) float32, white is 1
  ImageGeometry geometry;
};

Shown show_square(const ImageTransform& transform, int64_t top, int64_t left, int64_t index) {
  at::Tensor pixels = at::zeros({1, 3, kSide, kSide}, at::kByte);
  pixels.narrow(2, top, kSquare).narrow(3, left, kSquare).fill_(255);
  const ImageShape shape = transform.sample_shape();
  at::Tensor out = at::empty({1, shape.channels, shape.height, shape.width}, at::kFloat);
  const ImageGeometry geometry =
      transform.apply(StoredImages(pixels), 0, {3, 1, static_cast<uint64_t>(index)}, out.mutable_data_ptr<float>());
  return {transform.resize(out)[0][0], geometry};
}

// The centre of what is white in an image (H, W), in pixels.
ImagePoint middle_of_white(const at::Tensor& image) {
  const at::Tensor values = image.to(at::kDouble).contiguous();
  const auto* value = values.const_data_ptr<double>();
  double white = 0, sum_x = 0, sum_y = 0;
  for (int64_t row = 0; row < image.size(0); ++row) {
    for (int64_t column = 0; column < image.size(1); ++column, ++value) {
      white += *value;
      sum_x += *value * (static_cast<double>(column) + 0.5);
      sum_y += *value * (static_cast<double>(row) + 0.5);
    }
  }
  return {sum_x / white, sum_y / white};
}

void expect_square_where_told(const ImageTransform& transform, double tolerance) {
  int64_t seen = 0;
  for (int64_t index = 0; index < 60; ++index) {
    const int64_t top = 17 + index % 40, left = 55 - index % 31;
    const auto [image, geometry] = show_square(transform, top, left, index);
    EXPECT_EQ(geometry.original, (io::ImageSize{kSide, kSide}));
    ASSERT_EQ(geometry.result, (io::ImageSize{image.size(0), image.size(1)}));
    const auto x = static_cast<double>(left), y = static_cast<double>(top);
    const ImageBox box = geometry.in_result(ImageBox{x, y, x + kSquare, y + kSquare});
    const ImageBox inside = within(box, geometry.result);
    const double white = image.sum().item<double>();
    const bool is_whole = box.left >= 3 && box.top >= 3 && box.right <= static_cast<double>(image.size(1)) - 3 &&
                          box.bottom <= static_cast<double>(image.size(0)) - 3;
    if (inside.empty()) {
      EXPECT_LT(white, 2) << index;
    }
    if (!is_whole) continue;
    ++seen;
    const ImagePoint seen_at = middle_of_white(image);
    const ImagePoint middle = geometry.in_result(ImagePoint{x + kSquare / 2.0, y + kSquare / 2.0});
    EXPECT_NEAR(seen_at.x, middle.x, tolerance) << index;
    EXPECT_NEAR(seen_at.y, middle.y, tolerance) << index;
  }
  EXPECT_GT(seen, 5);
}

const Normalization kPlain{{0, 0, 0}, {1, 1, 1}};
constexpr ImageShape kOneSize{3, kSide, kSide}, kOwnSizes{3, 0, 0};

TEST(TransformGeometry, OfShiftedAndMirroredImages) {
  expect_square_where_told({kOneSize, kPlain, {.flip = 0.5, .crop_padding = 20}}, 1e-6);
}

// Interpolated edges of a square are symmetric but for the rounding of pixels to bytes.
constexpr double kInterpolation = 0.05;

TEST(TransformGeometry, OfShiftedImagesResizedAsABatch) {
  expect_square_where_told({kOneSize, kPlain, {.flip = 0.5, .crop_padding = 20}, {.image_size = 64}}, kInterpolation);
}

TEST(TransformGeometry, OfRandomCropsOfImagesOfTheirOwnSize) {
  const AugmentationOptions crops{.flip = 0.5, .crop = CropKind::resized};
  expect_square_where_told({kOwnSizes, kPlain, crops, {.image_size = 70}}, kInterpolation);
}

TEST(TransformGeometry, OfTheMiddleThatEvaluationShows) {
  for (const double fraction : {1.0, 0.875, 0.6}) {
    const ResizeOptions resize{.image_size = 40, .crop_fraction = fraction};
    expect_square_where_told(ImageTransform::for_evaluation(kOwnSizes, kPlain, resize), kInterpolation);
  }
}

// Where the middle of a square is seen after a turn, a shear or a shift, and where the map says.
TEST(TransformGeometry, OfTurnedShearedAndShiftedImages) {
  using enum RandAugmentOperation;
  at::Tensor pixels = at::zeros({kSide, kSide, 1}, at::kByte);
  pixels.narrow(0, 40, kSquare).narrow(1, 30, kSquare).fill_(255);
  for (const auto operation : {rotate, shear_x, shear_y, translate_x, translate_y}) {
    for (const bool opposite : {false, true}) {
      const at::Tensor image = apply_operation(pixels, operation, 4, opposite, true, {});
      ImageGeometry geometry = ImageGeometry::of({kSide, kSide});
      geometry.warp(*operation_map(operation, 4, opposite, kSide, kSide));
      const ImagePoint middle = geometry.in_result(ImagePoint{30 + kSquare / 2.0, 40 + kSquare / 2.0});
      const ImagePoint seen = middle_of_white(image.squeeze(2));
      // Pixels are cut off, not rounded, so that one edge may weigh a little more than the other.
      EXPECT_NEAR(seen.x, middle.x, 0.1) << static_cast<int>(operation);
      EXPECT_NEAR(seen.y, middle.y, 0.1) << static_cast<int>(operation);
    }
  }
  EXPECT_FALSE(operation_map(invert, 4, false, kSide, kSide));
}

// The policy's map is that of its operations, one behind the other, in the order in which they are drawn.
TEST(TransformGeometry, OfAPolicyIsThatOfItsOperations) {
  const RandAugmentOptions options{.operations = 3, .magnitude = 5, .deviation = 1, .probability = 0.8};
  const at::Tensor pixels = at::zeros({30, 40, 3}, at::kByte);
  int64_t warped = 0;
  for (uint64_t sample = 0; sample < 100; ++sample) {
    const CounterRandom random(1, RandomStream::policy, 0, sample);
    CounterRandom draws = random;
    ImageGeometry expected = ImageGeometry::of({30, 40});
    for (int64_t i = 0; i < options.operations; ++i) {
      const auto operation = static_cast<RandAugmentOperation>(draws.below(kRandAugmentOperations));
      const bool applied = draws.chance(options.probability);
      const double magnitude = options.magnitude + options.deviation * draws.normal();
      const bool opposite = draws.chance(0.5);
      const auto map = operation_map(operation, magnitude, opposite, 30, 40);
      if (applied && map) expected.warp(*map);
    }
    ImageGeometry found = ImageGeometry::of({30, 40});
    found.warp(rand_augment(pixels.clone(), options, {}, random).map);
    expect_near(found.in_original(ImagePoint{7, 11}), expected.in_original(ImagePoint{7, 11}));
    expect_near(found.in_result(expected.in_original(ImagePoint{31, 2})), {31, 2});
    warped += std::abs(found.in_original(ImagePoint{7, 11}).x - 7) > 0.01;
  }
  EXPECT_GT(warped, 20);
}

TEST(TransformGeometry, OfAPolicyFollowsTheCrop) {
  const AugmentationOptions options{
      .flip = 0.5, .crop = CropKind::resized, .rand_augment = {.operations = 2, .probability = 1}};
  const ImageTransform with(kOwnSizes, kPlain, options, {.image_size = 40});
  AugmentationOptions crop = options;
  crop.rand_augment.operations = 0;
  const ImageTransform without(kOwnSizes, kPlain, crop, {.image_size = 40});
  for (int64_t index = 0; index < 20; ++index) {
    const at::Tensor pixels = at::zeros({40, 40, 3}, at::kByte);
    const SampleRandom random{3, 1, static_cast<uint64_t>(index)};
    ImageGeometry expected = show_square(without, 40, 30, index).geometry;
    expected.warp(rand_augment(pixels, options.rand_augment, {}, random.stream(RandomStream::policy)).map);
    const ImageGeometry found = show_square(with, 40, 30, index).geometry;
    expect_near(found.in_original(ImagePoint{7, 11}), expected.in_original(ImagePoint{7, 11}));
  }
}

}  // namespace
}  // namespace cachet::data
