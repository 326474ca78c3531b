#include "cachet/data/vision/image_source.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace cachet::data {
namespace {

StoredImages three_images() { return StoredImages(at::arange(3 * 2 * 4 * 5, at::kByte).view({3, 2, 4, 5})); }

TEST(StoredImages, TellsWhatItHolds) {
  const StoredImages images = three_images();
  EXPECT_EQ(images.size(), 3);
  EXPECT_EQ(images.shape(), (ImageShape{2, 4, 5}));
  EXPECT_EQ(images.shape().numel(), 40);
}

TEST(StoredImages, GivesViewsNotCopies) {
  const StoredImages images = three_images();
  const at::Tensor image = images.image(1);
  EXPECT_EQ(image.sizes(), (std::vector<int64_t>{2, 4, 5}));
  EXPECT_EQ(image.const_data_ptr<uint8_t>(), images.images().const_data_ptr<uint8_t>() + 40);
}

TEST(StoredImages, SubsetCopiesTheChosenInTheirOrder) {
  const StoredImages images = three_images();
  const auto chosen = images.subset({2, 1});
  ASSERT_EQ(chosen->size(), 2);
  EXPECT_TRUE(chosen->image(0).equal(images.image(2)));
  EXPECT_TRUE(chosen->image(1).equal(images.image(1)));
}

TEST(StoredImages, RegionsAreCopies) {
  const StoredImages images = three_images();
  const auto all = [](const io::ImageSize& size) { return io::ImageRequest{io::ImageRegion::whole(size), {}}; };
  at::Tensor whole = images.region(1, all);
  EXPECT_TRUE(whole.equal(images.image(1).permute({1, 2, 0})));
  whole.zero_();
  EXPECT_TRUE(images.image(1).ne(0).all().item<bool>());
  const at::Tensor part = images.region(2, [](const io::ImageSize&) { return io::ImageRequest{{1, 2, 3, 2}, {1, 1}}; });
  EXPECT_TRUE(part.equal(images.image(2).narrow(1, 1, 3).narrow(2, 2, 2).permute({1, 2, 0})));
  const auto too_wide = [](const io::ImageSize&) { return io::ImageRequest{{0, 0, 5, 5}, {}}; };
  EXPECT_THROW(images.region(0, too_wide), std::invalid_argument);
}

TEST(StoredImages, RefusesWhatAreNoImages) {
  const at::Tensor pixels = at::zeros({2, 1, 3, 3}, at::kByte);
  EXPECT_THROW(StoredImages{pixels.to(at::kFloat)}, std::invalid_argument);
  EXPECT_THROW(StoredImages{pixels[0]}, std::invalid_argument);
  EXPECT_THROW(StoredImages{at::Tensor()}, std::invalid_argument);
  EXPECT_THROW(three_images().image(3), std::out_of_range);
  EXPECT_THROW(three_images().image(-1), std::out_of_range);
}

}  // namespace
}  // namespace cachet::data
