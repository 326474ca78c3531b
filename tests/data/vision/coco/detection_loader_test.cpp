#include "cachet/data/vision/coco/detection_loader.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "cachet/data/order/equal_batches.h"
#include "cachet/data/order/grouped_batches.h"
#include "cachet/io/error.h"
#include "tests/data/vision/coco/detection_files.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"

namespace cachet::data {
namespace {

DetectionTransform small_transform() { return {{.scales = {{90, 60}}, .multiple = 32}, {{0, 0, 0}, {1, 1, 1}}}; }

std::vector<DetectionBatch> epoch_of(const DetectionLoader& loader, int64_t epoch, int64_t first = 0) {
  std::vector<DetectionBatch> batches;
  auto stream = loader.iterate(epoch, first);
  while (auto batch = stream.next()) batches.push_back(*std::move(batch));
  return batches;
}

TEST(DetectionLoader, MakesBatchesOfOneOrientation) {
  const test::TemporaryDirectory folder;
  const auto set = test::small_detection_set(folder.path(), 8);
  const auto order =
      std::make_shared<GroupedBatches>(orientations(*set), GroupedBatchOptions{.batch_size = 2, .seed = 1});
  const DetectionLoader loader(set, small_transform(), order);
  const auto batches = epoch_of(loader, 0);
  ASSERT_EQ(batches.size(), 4u);
  for (const DetectionBatch& batch : batches) {
    const bool wide = batch.samples[0].original.width > batch.samples[0].original.height;
    EXPECT_EQ(batch.images.sizes(), wide ? (at::IntArrayRef{2, 3, 64, 96}) : (at::IntArrayRef{2, 3, 96, 64}));
    for (size_t i = 0; i < 2; ++i) {
      const DetectionSample& sample = batch.samples[i];
      EXPECT_EQ(sample.image_id, 100 + sample.index);
      EXPECT_EQ(sample.resized, (wide ? geometry::Size{60, 90} : geometry::Size{90, 60}));
      EXPECT_NEAR(sample.scale[0], 1.5, 1e-12);
      EXPECT_FALSE(sample.pixels.defined());
      const at::Tensor image = batch.images[static_cast<int64_t>(i)];
      EXPECT_NEAR(image[0][0][0].item<double>(), static_cast<double>(sample.index) / 255, 1e-6);
      EXPECT_EQ(image[0][image.size(1) - 1][image.size(2) - 1].item<double>(), 0);  // filled up
      ASSERT_EQ(sample.objects.size(), 1u);
      EXPECT_NEAR(sample.objects.boxes[0].width(), 15, 1e-9);
      EXPECT_EQ(sample.objects.masks[0].size(), sample.resized);
    }
  }
}

TEST(DetectionLoader, PaddedSizesGroupConsecutiveImagesOfOneSize) {
  const test::TemporaryDirectory folder;
  const auto set = test::small_detection_set(folder.path(), 9);  // 40 x 60 and 60 x 40 in turn
  const DetectionTransformOptions transform{.scales = {{90, 60}}, .multiple = 32};
  EXPECT_EQ(padded_sizes(*set, transform, 4), (std::vector<int64_t>{0, 1, 0, 1, 2, 3, 2, 3, 4}));
  EXPECT_EQ(padded_sizes(*set, transform, 100), (std::vector<int64_t>{0, 1, 0, 1, 0, 1, 0, 1, 0}));
  const DetectionTransformOptions square{.scales = {{90, 60}}, .multiple = 96};
  EXPECT_EQ(padded_sizes(*set, square, 100), std::vector<int64_t>(9, 0)) << "filled up to one size";
}

TEST(DetectionLoader, DependsNeitherOnWorkersNorOnTheStart) {
  const test::TemporaryDirectory folder;
  const auto set = test::small_detection_set(folder.path(), 8);
  const auto order =
      std::make_shared<GroupedBatches>(orientations(*set), GroupedBatchOptions{.batch_size = 2, .seed = 1});
  const DetectionLoader none(set, small_transform(), order, OnBadImage::stop, skipped_images(), {.workers = 0});
  const DetectionLoader three(set, small_transform(), order, OnBadImage::stop, skipped_images(), {.workers = 3});
  const auto whole = epoch_of(none, 4), threaded = epoch_of(three, 4), rest = epoch_of(three, 4, 2);
  ASSERT_EQ(whole.size(), threaded.size());
  ASSERT_EQ(rest.size(), 2u);
  bool mirrored = false;
  for (size_t i = 0; i < whole.size(); ++i) {
    const DetectionBatch& other = i < 2 ? threaded[i] : rest[i - 2];
    EXPECT_TRUE(whole[i].images.equal(other.images));
    for (size_t k = 0; k < 2; ++k) {
      EXPECT_EQ(whole[i].samples[k].objects.boxes, other.samples[k].objects.boxes);
      EXPECT_EQ(whole[i].samples[k].objects.masks, other.samples[k].objects.masks);
      mirrored |= whole[i].samples[k].mirrored;
    }
  }
  EXPECT_TRUE(mirrored);
}

TEST(DetectionLoader, StopsAtABadImageOrGoesOnWithoutIt) {
  const test::TemporaryDirectory folder;
  const auto set = test::small_detection_set(folder.path(), 4);
  const auto file = folder / "2.png";
  std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
  std::filesystem::remove(folder / "3.png");
  const auto order = std::make_shared<EqualBatches>(4, EqualBatchOptions{.batch_size = 2, .shuffle = false});
  const DetectionLoader stops(set, small_transform(), order);
  const std::string message = test::thrown_message<io::Error>([&] { epoch_of(stops, 0); });
  EXPECT_TRUE(message.starts_with(file.string() + ": ")) << message;
  EXPECT_TRUE(message.ends_with("to leave out such images, set data.on_bad_image = \"skip\"")) << message;

  const auto bad = skipped_images();
  const DetectionLoader skips(set, small_transform(), order, OnBadImage::skip, bad);
  for (int epoch = 0; epoch < 2; ++epoch) {
    const auto batches = epoch_of(skips, epoch);
    ASSERT_EQ(batches.size(), 2u);
    EXPECT_EQ(batches[0].samples.size(), 2u);
    EXPECT_EQ(batches[1].images.size(0), 0);
    EXPECT_TRUE(batches[1].samples.empty());
  }
  EXPECT_EQ(bad->count(), 2);
  ASSERT_EQ(bad->lines().size(), 3u);
  EXPECT_EQ(bad->lines()[0], "images skipped: 2 in all");
  EXPECT_TRUE(bad->lines()[1].starts_with("image skipped: " + file.string() + ": "));
  EXPECT_TRUE(bad->lines()[2].starts_with("image skipped: " + (folder / "3.png").string() + ": "));
}

TEST(DetectionLoader, NamesAHundredBadImagesAndCountsAll) {
  ImageNotes bad("image skipped", "images skipped");
  EXPECT_TRUE(bad.lines().empty());
  for (int i = 0; i < 250; ++i) bad.add(std::to_string(i % 125) + ".png: truncated");
  const std::vector<std::string> notes = bad.lines();
  ASSERT_EQ(notes.size(), 101u);
  EXPECT_EQ(notes[0], "images skipped: 125 in all");
  EXPECT_EQ(notes[100], "image skipped: 99.png: truncated");
  EXPECT_EQ(bad.take_new().size(), 125u);
  bad.add("0.png: truncated");
  bad.add("200.png: truncated");
  EXPECT_EQ(bad.take_new(), std::vector<std::string>{"200.png: truncated"});
}

TEST(DetectionLoader, RefusesTheOrderOfAnotherSet) {
  const test::TemporaryDirectory folder;
  const auto set = test::small_detection_set(folder.path(), 2);
  EXPECT_EQ(test::thrown_message<std::invalid_argument>([&] {
              DetectionLoader(set, small_transform(),
                              std::make_shared<EqualBatches>(3, EqualBatchOptions{.batch_size = 1}));
            }),
            "the order has 3 samples, but the data set has 2 images");
}

}  // namespace
}  // namespace cachet::data
