#include "cachet/data/vision/image_overlap.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cachet/data/vision/image_files.h"
#include "tests/data/text/review_files.h"
#include "tests/support/temporary_directory.h"

namespace cachet::data {
namespace {

// No image is decoded.
ImageFiles files_of(const std::filesystem::path& folder, const std::vector<std::string>& contents) {
  std::vector<std::string> names;
  for (const std::string& bytes : contents) {
    names.push_back(std::to_string(names.size()) + ".png");
    test::write_text(folder / names.back(), bytes);
  }
  return {folder, names};
}

TEST(ImageOverlap, OfFilesIsThatOfTheirBytes) {
  const test::TemporaryDirectory root;
  const std::string large(20'000, 'a');
  std::string other_end = large, other_middle = large;
  other_end.back() = 'b';  // same size, same middle
  other_middle[10'000] = 'b';
  const ImageFiles training = files_of(root / "train", {"one", other_end, "three", large, "three"});
  const ImageFiles evaluation = files_of(root / "val", {"two", other_middle, "three", large, "large", "three", ""});
  std::vector<std::pair<int64_t, int64_t>> seen;
  const SplitOverlap found =
      image_overlap(training, evaluation, "test", [&](int64_t done, int64_t total) { seen.emplace_back(done, total); });
  EXPECT_EQ(found.samples, 7);
  EXPECT_EQ(found.shared, 3) << "both of the same bytes";
  EXPECT_EQ(found.evaluation, (root / "val/2.png").string());
  EXPECT_EQ(found.training, (root / "train/2.png").string());
  EXPECT_EQ(found.split, "test");
  EXPECT_EQ(found.many, "images");
  ASSERT_FALSE(seen.empty());
  EXPECT_EQ(seen.back().first, seen.back().second);
}

TEST(ImageOverlap, FilesThatCannotBeReadAreEqualToNone) {
  const test::TemporaryDirectory root;
  files_of(root / "train", {"a"});
  files_of(root / "val", {"b"});
  const ImageFiles training(root / "train", {"0.png", "none.png", "."}), evaluation(root / "val", {"none.png", "."});
  EXPECT_EQ(image_overlap(training, evaluation, "test").shared, 0);
  EXPECT_EQ(image_overlap(training, evaluation, "test").samples, 2);
}

TEST(ImageOverlap, OfTheSameFilesIsAll) {
  const test::TemporaryDirectory root;
  const ImageFiles images = files_of(root.path(), {"a", "b", "b"});
  EXPECT_EQ(image_overlap(images, images, "test").shared, 3);
  const auto one = images.subset({2});
  EXPECT_EQ(image_overlap(*one, images, "test").shared, 2);
  EXPECT_EQ(image_overlap(*one, images, "test").training, (root / "2.png").string());
}

TEST(ImageOverlap, OfImagesInMemoryIsThatOfTheirPixels) {
  const at::Tensor some = at::arange(4 * 12, at::kByte).view({4, 1, 3, 4});
  const at::Tensor others = at::cat({some.add(100), some.narrow(0, 2, 1), some.narrow(0, 2, 1)});
  const SplitOverlap found = image_overlap(StoredImages(some), StoredImages(others), "test");
  EXPECT_EQ(found.samples, 6);
  EXPECT_EQ(found.shared, 2);
  EXPECT_EQ(found.evaluation, "image 4");
  EXPECT_EQ(found.training, "image 2");
}

TEST(ImageOverlap, ManyFilesAreReadByManyThreads) {
  const test::TemporaryDirectory root;
  std::vector<std::string> training, evaluation;
  for (int i = 0; i < 500; ++i) training.push_back("image " + std::to_string(1000 + i));
  for (int i = 0; i < 300; ++i) evaluation.push_back("image " + std::to_string(1000 + 7 * i));
  int64_t last = 0;
  const SplitOverlap found = image_overlap(files_of(root / "train", training), files_of(root / "val", evaluation),
                                           "test", [&](int64_t done, int64_t) { last = done; });
  EXPECT_EQ(found.shared, 72);  // 7 i < 500
  EXPECT_EQ(last, 144) << "of those whose bytes in the middle are equal";
}

}  // namespace
}  // namespace cachet::data
