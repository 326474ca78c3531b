#include "cachet/data/data_digest.h"

#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <set>

#include "cachet/data/text/sequences/sequence_dataset.h"
#include "cachet/data/vision/coco/detection_set.h"
#include "cachet/data/vision/coco/shape_folder.h"
#include "cachet/data/vision/image_files.h"
#include "cachet/data/vision/labelled_images.h"
#include "cachet/io/tensors/png.h"
#include "tests/support/bytes.h"
#include "tests/support/temporary_directory.h"

namespace cachet::data {
namespace {

namespace fs = std::filesystem;

TEST(DataDigest, TheLargestChangeCounts) {
  const DataDigest all{"contents", "texts", "files", "times"};
  const auto change = [&](DataDigest now) { return change_of(all, now); };
  EXPECT_EQ(change(all), DataChange::none);
  EXPECT_EQ(change({"contents", "texts", "files", "other"}), DataChange::times);
  EXPECT_EQ(change({"contents", "texts", "other", "other"}), DataChange::files);
  EXPECT_EQ(change({"contents", "other", "files", "times"}), DataChange::contents);
  EXPECT_EQ(change({"other", "texts", "other", "times"}), DataChange::contents);
  EXPECT_EQ(change({"contents", "", "files", "times"}), DataChange::none) << "a file of tokens of the same text";
  EXPECT_NE(all.identity(), (DataDigest{"contents", "texts", "other", "times"}.identity()));
  EXPECT_EQ(all.identity(), (DataDigest{"contents", "other", "files", "other"}.identity()));
}

TEST(DataDigest, OfStoredImagesHasEachPixelAndLabel) {
  // One more than the 4,096 images that version 0.1.0 looked at. It did not look at the second.
  const at::Tensor images = at::zeros({10'000, 1, 1, 2}, at::kByte);
  const std::vector<int64_t> labels(10'000, 0);
  const auto set_of = [](const at::Tensor& pixels, const std::vector<int64_t>& of) {
    return LabelledImages(std::make_shared<StoredImages>(pixels), ClassLabels(of, {"a", "b"}));
  };
  const DataDigest whole = set_of(images, labels).digest();
  EXPECT_EQ(whole.contents.size(), 16U);
  EXPECT_TRUE(whole.files.empty() && whole.times.empty() && whole.texts.empty());
  at::Tensor other = images.clone();
  other.view(-1)[3] = 1;
  EXPECT_EQ(set_of(images, labels).fingerprint(), set_of(other, labels).fingerprint()) << "as version 0.1.0 had it";
  EXPECT_NE(set_of(other, labels).digest(), whole);
  std::vector<int64_t> other_labels = labels;
  other_labels[1] = 1;
  EXPECT_NE(set_of(images, other_labels).digest(), whole);
  EXPECT_NE(set_of(images.view({10'000, 1, 2, 1}), labels).digest(), whole);
  EXPECT_EQ(set_of(images.clone(), labels).digest(), whole);
  EXPECT_NE(set_of(other, labels).sample_digest(1), set_of(images, labels).sample_digest(1));
  EXPECT_EQ(set_of(other, labels).sample_digest(0), set_of(images, labels).sample_digest(0));
  EXPECT_NE(set_of(images, other_labels).sample_digest(1), set_of(images, labels).sample_digest(1));
}

TEST(DataDigest, OfFilesHasNamesAndSizesAndApartFromThemTimes) {
  const test::TemporaryDirectory folder;
  const auto write = [&](const std::string& name, const std::string& text) { std::ofstream(folder / name) << text; };
  const auto digest = [&](const std::vector<std::string>& names) { return ImageFiles(folder.path(), names).digest(); };
  write("a.png", "12");
  write("b.png", "34");
  const DataDigest before = digest({"a.png", "b.png"});
  EXPECT_EQ(change_of(before, digest({"b.png", "a.png"})), DataChange::files);
  EXPECT_EQ(change_of(before, digest({"a.png"})), DataChange::files);
  const auto time = fs::last_write_time(folder / "b.png");
  write("b.png", "56");
  fs::last_write_time(folder / "b.png", time);
  EXPECT_EQ(digest({"a.png", "b.png"}), before) << "contents are not read";
  fs::last_write_time(folder / "b.png", time + std::chrono::seconds(1));
  EXPECT_EQ(change_of(before, digest({"a.png", "b.png"})), DataChange::times);
  write("b.png", "567");
  EXPECT_EQ(change_of(before, digest({"a.png", "b.png"})), DataChange::files);
  fs::remove(folder / "b.png");
  EXPECT_EQ(change_of(before, digest({"a.png", "b.png"})), DataChange::files);
  const test::TemporaryDirectory elsewhere;
  fs::copy(folder / "a.png", elsewhere / "a.png");
  EXPECT_EQ(ImageFiles(elsewhere.path(), {"a.png"}).digest().files, digest({"a.png"}).files);
}

TEST(DataDigest, OfVeryManyFilesTakesThemInTheirOrder) {
  const test::TemporaryDirectory folder;
  std::vector<std::string> names;
  for (int i = 0; i < 20'000; ++i) names.push_back(std::to_string(i));  // more than one thread asks for
  for (const char* name : {"3", "9000"}) std::ofstream(folder / name) << name;
  const FileDigests before = digests_of_files(folder.path(), names);
  EXPECT_EQ(digests_of_files(folder.path(), names).names_and_sizes, before.names_and_sizes);
  std::ofstream(folder / "19999") << "";
  EXPECT_NE(digests_of_files(folder.path(), names).names_and_sizes, before.names_and_sizes) << "0 bytes, not absent";
}

TEST(DataDigest, OfAnImageFileIsOfTheBytesThatWereDecoded) {
  const test::TemporaryDirectory folder;
  const at::Tensor pixels = at::zeros({2, 3, 3}, at::kByte);
  const auto write = [&](uint8_t value) {
    const auto png = io::encode_png(pixels.clone().fill_(value));
    std::ofstream(folder / "a.png", std::ios::binary).write(reinterpret_cast<const char*>(png.data()), std::ssize(png));
  };
  write(1);
  const ImageFiles unkept(folder.path(), {"a.png"}), kept(folder.path(), {"a.png"});
  const std::string one = unkept.image_digest(0);
  EXPECT_EQ(one, digest_of_image_file(folder / "a.png"));
  unkept.image(0);
  kept.keep_digests();
  EXPECT_TRUE(kept.files_read().empty());
  kept.image(0);
  EXPECT_EQ(kept.files_read(), std::vector<int64_t>{0});
  write(2);
  EXPECT_NE(unkept.image_digest(0), one) << "of the file as it is";
  EXPECT_EQ(kept.image_digest(0), one) << "of what was read";
  kept.image(0);
  EXPECT_EQ(kept.image_digest(0), unkept.image_digest(0));
  fs::remove(folder / "a.png");
  EXPECT_EQ(unkept.image_digest(0), kUnreadable);
}

TEST(DataDigest, OfDetectionHasAnnotationsAndMasks) {
  const test::TemporaryDirectory folder;
  write_shape_folder(folder / "shapes", {.train = 3, .validation = 3, .height = 32, .width = 32});
  const fs::path file = folder / "shapes/annotations/instances_val.json";
  const auto open = [&] { return open_detection_set(file, folder / "shapes/images/val", {.least_side = 1}); };
  const auto before = open();
  const std::string text = test::read_bytes(file);
  // A corner of a mask, and an area: version 0.1.0 saw neither.
  for (const std::string key : {"\"segmentation\":", "\"area\":"}) {
    std::string other = text;
    const size_t digit = other.find_first_of("123456789", other.find(key));
    other[digit] = other[digit] == '1' ? '2' : '1';
    std::ofstream(file) << other;
    const auto now = open();
    EXPECT_EQ(now->fingerprint(), before->fingerprint()) << key;
    EXPECT_EQ(change_of(before->digest(), now->digest()), DataChange::contents) << key;
    int64_t changed = 0;
    for (int64_t i = 0; i < now->size(); ++i) changed += now->sample_digest(i) != before->sample_digest(i) ? 1 : 0;
    EXPECT_EQ(changed, 1) << key;
  }
  std::ofstream(file) << text;
  EXPECT_EQ(open()->digest(), before->digest());
  EXPECT_EQ(change_of(before->digest(), before->subset({0, 1})->digest()), DataChange::contents);
}

TEST(DataDigest, OfSequencesHasEachToken) {
  const auto set_of = [](Token last, std::string texts = {}) {
    auto store = std::make_shared<TokenStore>(9);
    std::vector<SequenceSample> samples;
    for (int64_t i = 0; i < 10'000; ++i) {
      store->add(std::vector<Token>{1, i == 1 ? last : Token{2}});
      samples.push_back({i, -1, i % 2});
    }
    return SequenceDataset(store, samples, Vocabulary{9, "v"}, {"a", "b"}, {}, std::move(texts));
  };
  EXPECT_EQ(set_of(2).fingerprint(), set_of(3).fingerprint()) << "as version 0.1.0 had it";
  EXPECT_EQ(change_of(set_of(2).digest(), set_of(3).digest()), DataChange::contents);
  EXPECT_EQ(change_of(set_of(2).digest(), set_of(2).digest()), DataChange::none);
  EXPECT_EQ(change_of(set_of(2, "one").digest(), set_of(2, "two").digest()), DataChange::contents);
  EXPECT_NE(set_of(2).sample_digest(1), set_of(3).sample_digest(1));
  EXPECT_NE(set_of(2).sample_digest(0), set_of(2).sample_digest(1)) << "of another class";
}

}  // namespace
}  // namespace cachet::data
