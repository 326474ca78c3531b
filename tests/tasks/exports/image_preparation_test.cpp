// A program without LibTorch prepares an image as evaluation does, bit for bit.
#include "cachet/runtime/image_preparation.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <fstream>

#include "cachet/data/vision/image_transform.h"
#include "cachet/io/tensors/png.h"
#include "tests/support/bytes.h"
#include "tests/support/exif.h"
#include "tests/support/temporary_directory.h"

namespace cachet::tasks {
namespace {

using data::ImageTransform, data::Interpolation, runtime::ImagePreparation, runtime::PixelFilter;

struct Case {
  int64_t height, width, channels;  // of the file
  data::ImageShape data;            // height 0: images of their own sizes
  data::ResizeOptions resize;
  PixelFilter filter = PixelFilter::bicubic;
};

TEST(ImagePreparation, HasTheBitsOfTheEvaluation) {
  const test::TemporaryDirectory folder;
  const std::vector<Case> cases{
      {60, 80, 3, {3, 0, 0}, {.image_size = 32, .crop_fraction = 0.875}},
      {80,
       61,
       3,
       {3, 0, 0},
       {.image_size = 48, .interpolation = Interpolation::bilinear, .crop_fraction = 0.9},
       PixelFilter::bilinear},
      {80,
       61,
       3,
       {3, 0, 0},
       {.image_size = 48, .interpolation = Interpolation::lanczos, .crop_fraction = 0.9},
       PixelFilter::lanczos},
      {9, 200, 3, {3, 0, 0}, {.image_size = 24, .crop_fraction = 1}},    // longer than four times its width
      {40, 30, 1, {3, 0, 0}, {.image_size = 16, .crop_fraction = 0.5}},  // grey made RGB
      {40, 30, 3, {1, 0, 0}, {.image_size = 16}},                        // RGB made grey
      {300, 40, 3, {3, 0, 0}, {.image_size = {20, 32}, .crop_fraction = 0.8}},
      {33, 20, 1, {1, 28, 28}, {}},  // data of one size
      {33, 20, 3, {3, 32, 32}, {.image_size = 24, .crop_fraction = 0.75}},
  };
  for (const Case& c : cases) {
    const auto channels = static_cast<size_t>(c.data.channels);
    const data::Normalization normalization{std::vector<double>(channels, 0.47), std::vector<double>(channels, 0.21)};
    const auto transform = ImageTransform::for_evaluation(c.data, normalization, c.resize);
    const auto png = io::encode_png(at::randint(256, {c.height, c.width, c.channels}, at::kByte));
    const auto file = folder / "image.png";
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<const char*>(png.data()), static_cast<std::streamsize>(png.size()));
    const data::ImageShape input = transform.output_shape();
    const ImagePreparation preparation{
        input.channels,           input.height,           input.width, c.data.height,      c.data.width,
        transform.takes_middle(), c.resize.crop_fraction, c.filter,    normalization.mean, normalization.std};
    const at::Tensor expected = transform.of_file(file).contiguous();
    const std::vector<float> prepared = runtime::prepare_file(file, preparation);
    EXPECT_EQ(prepared, std::vector<float>(expected.data_ptr<float>(), expected.data_ptr<float>() + expected.numel()))
        << c.height << " x " << c.width;
  }
}

TEST(ImagePreparation, FollowsTheOrientationRule) {
  const test::TemporaryDirectory folder;
  const auto file = folder / "image.jpg";
  test::write_bytes(file, test::with_exif(test::jpeg_file(60, 40), 6));
  const data::Normalization normalization{{0.4, 0.5, 0.6}, {0.2, 0.3, 0.25}};
  const auto transform = ImageTransform::for_evaluation({3, 0, 0}, normalization, {.image_size = 16});
  ImagePreparation preparation{3, 16, 16, 0, 0, true, 1, PixelFilter::bicubic, normalization.mean, normalization.std};
  const auto expected = [&](io::OrientationRule rule) {
    const at::Tensor image = transform.of_file(file, rule).contiguous();
    return std::vector<float>(image.data_ptr<float>(), image.data_ptr<float>() + image.numel());
  };
  EXPECT_EQ(runtime::prepare_file(file, preparation), expected(io::OrientationRule::ignore));
  preparation.orientation = io::OrientationRule::apply;
  EXPECT_EQ(runtime::prepare_file(file, preparation), expected(io::OrientationRule::apply));
  EXPECT_NE(expected(io::OrientationRule::ignore), expected(io::OrientationRule::apply));
}

TEST(ImagePreparation, OfWholeImagesInNumbersIsNear) {
  const test::TemporaryDirectory folder;
  const data::Normalization normalization{{0.4, 0.5, 0.6}, {0.2, 0.3, 0.25}};
  const auto transform = ImageTransform::for_evaluation({3, 32, 32}, normalization, {.image_size = 48});
  const auto png = io::encode_png(at::randint(256, {50, 40, 3}, at::kByte));
  std::ofstream(folder / "image.png", std::ios::binary)
      .write(reinterpret_cast<const char*>(png.data()), static_cast<std::streamsize>(png.size()));
  const at::Tensor expected = transform.of_file(folder / "image.png");
  std::vector<float> prepared = runtime::prepare_file(
      folder / "image.png",
      {3, 48, 48, 32, 32, transform.takes_middle(), 1, PixelFilter::bicubic, normalization.mean, normalization.std});
  const at::Tensor made = at::from_blob(prepared.data(), {1, 3, 48, 48});
  EXPECT_LT((made - expected).abs().max().item<float>(), 1e-5);
}

}  // namespace
}  // namespace cachet::tasks
