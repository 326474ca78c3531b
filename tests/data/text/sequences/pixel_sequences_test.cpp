#include "cachet/data/text/sequences/pixel_sequences.h"

#include <ATen/ops/full.h>
#include <ATen/ops/randint.h>
#include <gtest/gtest.h>

#include "cachet/io/error.h"
#include "cachet/io/tensors/png.h"
#include "tests/data/vision/written_image_files.h"
#include "tests/support/bytes.h"
#include "tests/support/temporary_directory.h"

namespace cachet::data {
namespace {

TEST(PixelSequences, GreyIsTensorFlows) {
  EXPECT_EQ(arena_grey(0, 0, 0), 0);
  EXPECT_EQ(arena_grey(255, 255, 255), 255) << "the weights add up to 0.9999, the factor is 255.5";
  // By hand: floor((0.2989 r + 0.587 g + 0.114 b) / 255 * 255.5).
  EXPECT_EQ(arena_grey(255, 0, 0), 76);
  EXPECT_EQ(arena_grey(0, 255, 0), 149);
  EXPECT_EQ(arena_grey(0, 0, 255), 29);
  EXPECT_EQ(arena_grey(10, 200, 30), 124);  // 123.809 * 1.00196 = 124.05
  EXPECT_EQ(arena_grey(1, 2, 3), 1);
}

TEST(PixelSequences, AreTheImagesRowByRow) {
  const test::TemporaryDirectory folder;
  const auto records = test::cifar_records({{3}, {9}});
  test::write_bytes(folder / "test_batch.bin", records);
  const auto images = read_cifar10_pixels(folder.path(), Split::test, {.max_length = 1024});
  ASSERT_EQ(images->size(), 2);
  EXPECT_EQ(images->label(1), 9);
  EXPECT_EQ(images->classes(), 10);
  EXPECT_EQ(images->vocabulary().size, 256);
  ASSERT_EQ(images->tokens(1).size(), 1024u);
  const uint8_t* pixels = records.data() + 3073 + 1;
  for (const size_t place : {size_t{0}, size_t{33}, size_t{1023}})
    EXPECT_EQ(images->tokens(1)[place], arena_grey(pixels[place], pixels[1024 + place], pixels[2048 + place]));
  EXPECT_EQ(read_cifar10_pixels(folder.path(), Split::test, {.max_length = 100})->counts().truncated, 2);
}

TEST(PixelSequences, AFileIsReadAsTheDataAre) {
  const test::TemporaryDirectory folder;
  const at::Tensor image = at::randint(0, 256, {3, 32, 32}, at::kByte);
  const auto bytes = io::encode_png(image.permute({1, 2, 0}).contiguous());
  test::write_bytes(folder / "image.png", std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  EXPECT_EQ(pixel_tokens_of_file(folder / "image.png"), pixel_tokens(image));
  const auto large = io::encode_png(at::full({50, 90, 3}, 200, at::kByte));
  test::write_bytes(folder / "large.png", std::string_view(reinterpret_cast<const char*>(large.data()), large.size()));
  EXPECT_EQ(pixel_tokens_of_file(folder / "large.png"), std::vector<Token>(1024, arena_grey(200, 200, 200)));
  EXPECT_THROW(pixel_tokens_of_file(folder / "none.png"), io::Error);
}

}  // namespace
}  // namespace cachet::data
