// Images in tar shards: as the same images in class folders, also damaged, divided and shuffled.
#include "cachet/data/vision/shards/shards.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "cachet/data/order/windowed_batches.h"
#include "cachet/data/vision/class_folders.h"
#include "cachet/data/vision/image_kinds.h"
#include "cachet/data/vision/image_loader.h"
#include "cachet/data/vision/image_overlap.h"
#include "cachet/data/vision/loader_speed.h"
#include "cachet/data/vision/shards/shard_images.h"
#include "cachet/data/vision/shards/shard_writer.h"
#include "cachet/io/error.h"
#include "tests/support/bytes.h"
#include "tests/support/equal_batches.h"
#include "tests/support/tar_files.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"
#include "tests/support/written_class_folders.h"

namespace cachet::data {
namespace {

namespace fs = std::filesystem;
using test::TarPart;

/// A tar file has whole records of 10 KiB, so this is the smallest shard.
constexpr uint64_t kSmallShard = 10'240;

class ShardsTest : public ::testing::Test {
 protected:
  ShardsTest() {
    test::write_class_folders(folders(), {"ant", "cat", "dog"}, 5, 2);
    fs::create_directory(root());
  }
  fs::path folders() const { return folder_ / "folders"; }
  fs::path root() const { return folder_ / "shards"; }

  DatasetOptions options() const { return {.kind = &kShards, .root = root(), .classes = 3}; }
  std::shared_ptr<const LabelledImages> of_folders(Split split) const {
    return open_dataset({.kind = &kClassFolders, .root = folders(), .classes = 3}, split);
  }
  /// Writes both splits, with a few images in a shard.
  void write(const ShardOrder& order = {.shuffles = false}) const {
    const auto train = of_folders(Split::train);
    write_shards(root(), "train", *train, kSmallShard, order);
    write_shards(root(), "val", *of_folders(Split::test), kSmallShard, {.shuffles = false});
    write_shard_classes(root(), train->labels().class_names());
  }
  void write_shard(const std::string& name, const std::vector<TarPart>& parts) const {
    test::write_bytes(root() / name, test::tar_archive(parts));
  }
  std::string refusal(Split split = Split::train) const { return refusal(split, options()); }
  std::string refusal(Split split, const DatasetOptions& options) const {
    const std::string message = test::thrown_message<io::Error>([&] { open_dataset(options, split); });
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return message;
  }

  test::TemporaryDirectory folder_;
};

ImageTransform small_crops() {
  return {{3, 0, 0}, {{0.5, 0.4, 0.3}, {0.2, 0.3, 0.4}}, {.flip = 0.5, .crop = CropKind::resized}, {.image_size = 16}};
}

ImageLoader loader_of(const std::shared_ptr<const LabelledImages>& images, const EqualBatchOptions& options,
                      int64_t window = 5, Shard shard = {}, int64_t workers = 0, const BadImageOptions& bad = {}) {
  const auto order = std::make_shared<WindowedBatches>(images->images().shard_sizes(), window, options, shard);
  return {images, small_crops(), order, {.workers = workers}, bad};
}

std::vector<ImageBatch> batches_of(const ImageLoader& loader, int64_t epoch, int64_t first = 0) {
  std::vector<ImageBatch> all;
  auto batches = loader.iterate(epoch, first);
  while (auto batch = batches.next()) all.push_back(*std::move(batch));
  return all;
}

std::vector<int64_t> sorted(std::vector<int64_t> indices) {
  std::ranges::sort(indices);
  return indices;
}

TEST_F(ShardsTest, HaveTheImagesOfTheFolders) {
  write();
  for (const Split split : {Split::train, Split::test}) {
    const auto folders = of_folders(split), shards = open_dataset(options(), split);
    ASSERT_EQ(shards->size(), folders->size());
    EXPECT_EQ(shards->labels().values(), folders->labels().values());
    EXPECT_EQ(shards->labels().class_names(), folders->labels().class_names());
    EXPECT_FALSE(shards->images().has_one_size());
    for (int64_t i = 0; i < shards->size(); ++i) {
      EXPECT_TRUE(shards->images().image(i).equal(folders->images().image(i))) << i;
      EXPECT_EQ(shards->images().image_digest(i), folders->images().image_digest(i)) << i;
    }
  }
  const auto sizes = open_dataset(options(), Split::train)->images().shard_sizes();
  EXPECT_GT(sizes.size(), 2u);
  EXPECT_GT(sizes[0], 1) << "a shard of one sample would test no order";
}

TEST_F(ShardsTest, BatchesEqualThoseOfTheFoldersInTheSameOrder) {
  write();
  const auto shards = open_dataset(options(), Split::train);
  const EqualBatchOptions options{.batch_size = 4, .drop_last = false, .seed = 9};
  const auto order = std::make_shared<WindowedBatches>(shards->images().shard_sizes(), 5, options);
  const ImageLoader of_shards(shards, small_crops(), order, {.workers = 0});
  const ImageLoader of_files(of_folders(Split::train), small_crops(), order, {.workers = 0});
  test::expect_equal_batches(batches_of(of_shards, 3), batches_of(of_files, 3));
}

TEST_F(ShardsTest, AShuffledSplitHasTheSameImages) {
  write({.shuffles = true, .seed = 4});
  const auto folders = of_folders(Split::train), shards = open_dataset(options(), Split::train);
  const auto digests = [](const LabelledImages& images) {
    std::vector<std::string> all;
    for (int64_t i = 0; i < images.size(); ++i) all.push_back(images.sample_digest(i));
    return all;
  };
  auto expected = digests(*folders), found = digests(*shards);
  EXPECT_NE(found, expected);
  std::ranges::sort(expected);
  std::ranges::sort(found);
  EXPECT_EQ(found, expected);
}

TEST_F(ShardsTest, BatchesAreTheSameForAnyNumberOfWorkersAndProcesses) {
  write();
  const auto images = open_dataset(options(), Split::train);
  const EqualBatchOptions options{.batch_size = 6, .drop_last = false, .seed = 9};
  const auto whole = batches_of(loader_of(images, options), 2);
  test::expect_equal_batches(whole, batches_of(loader_of(images, options, 5, {}, /*workers=*/3), 2));
  for (const int64_t processes : {2, 3}) {
    std::vector<std::vector<ImageBatch>> parts;
    for (int64_t rank = 0; rank < processes; ++rank)
      parts.push_back(batches_of(loader_of(images, options, 5, {rank, processes}), 2));
    for (size_t b = 0; b < whole.size(); ++b)
      for (size_t i = 0; i < whole[b].indices.size(); ++i) {
        const ImageBatch& part = parts[i % static_cast<size_t>(processes)][b];
        const size_t own = i / static_cast<size_t>(processes);
        EXPECT_EQ(part.indices.at(own), whole[b].indices[i]);
        EXPECT_TRUE(part.images[static_cast<int64_t>(own)].equal(whole[b].images[static_cast<int64_t>(i)]));
      }
  }
}

TEST_F(ShardsTest, AnEpochContinuesWithoutReadingWhatWasSeen) {
  write();
  const auto images = open_dataset(options(), Split::train);
  const EqualBatchOptions options{.batch_size = 4, .drop_last = false, .seed = 9};
  auto whole = batches_of(loader_of(images, options), 1);
  std::vector<int64_t> seen;
  for (size_t b = 0; b < 2; ++b) seen.insert(seen.end(), whole[b].indices.begin(), whole[b].indices.end());
  whole.erase(whole.begin(), whole.begin() + 2);
  const auto again = open_dataset(this->options(), Split::train);
  again->images().keep_digests();
  test::expect_equal_batches(batches_of(loader_of(again, options), 1, 2), whole);
  const std::vector<int64_t> read = again->images().files_read();
  EXPECT_EQ(read.size() + seen.size(), 15u);
  for (const int64_t index : seen) EXPECT_FALSE(std::ranges::binary_search(read, index)) << index;
}

TEST_F(ShardsTest, SubsetsKnowTheirShards) {
  write();
  const auto images = open_dataset(options(), Split::train);
  const auto sizes = images->images().shard_sizes();
  const auto part = images->subset({0, 1, sizes[0], sizes[0] + sizes[1]});
  EXPECT_EQ(part->images().shard_sizes(), (std::vector<int64_t>{2, 1, 1}));
  EXPECT_TRUE(part->images().image(2).equal(images->images().image(sizes[0])));
  DatasetOptions some = options();
  some.validation_fraction = 0.4;
  DatasetOptions of_files{.kind = &kClassFolders, .root = folders(), .classes = 3, .validation_fraction = 0.4};
  for (const Split split : {Split::train, Split::validation}) {
    const auto shards = open_dataset(some, split), files = open_dataset(of_files, split);
    ASSERT_EQ(shards->size(), files->size());
    for (int64_t i = 0; i < shards->size(); ++i) EXPECT_EQ(shards->sample_digest(i), files->sample_digest(i));
  }
}

TEST_F(ShardsTest, DamagedImagesStopOrAreSkippedAndNamed) {
  write_shard("train-0.tar", {{"0.jpg", test::jpeg_file(20, 20)},
                              {"0.cls", "0"},
                              {"1.jpg", "no image"},
                              {"1.cls", "1"},
                              {"2.jpg", ""},
                              {"2.cls", "2"},
                              {"3.jpg", test::jpeg_file(20, 30)},
                              {"3.cls", "2"}});
  const auto images = open_dataset(options(), Split::train);
  const EqualBatchOptions options{.batch_size = 4, .shuffle = false, .drop_last = false};
  const BadImageOptions stop{.treatment = OnBadImage::stop, .has_key = true};
  const std::string message =
      test::thrown_message<std::runtime_error>([&] { batches_of(loader_of(images, options, 5, {}, 0, stop), 0); });
  EXPECT_NE(message.find("train-0.tar: "), std::string::npos) << message;
  EXPECT_TRUE(message.ends_with("; to leave out such images, set data.on_bad_image = \"skip\"")) << message;
  const BadImageOptions skip{.treatment = OnBadImage::skip, .has_key = true};
  const auto batches = batches_of(loader_of(images, options, 5, {}, 0, skip), 0);
  ASSERT_EQ(batches.size(), 1u);
  EXPECT_EQ(sorted(batches[0].indices), (std::vector<int64_t>{0, 3}));
  EXPECT_EQ(batches[0].images.sizes(), (std::vector<int64_t>{2, 3, 16, 16}));
  ASSERT_EQ(batches[0].skipped.size(), 2u);
  const std::string shard = (root() / "train-0.tar").string();
  EXPECT_TRUE(batches[0].skipped.at(1).starts_with(shard + ": 1.jpg: ")) << batches[0].skipped.at(1);
  EXPECT_EQ(batches[0].skipped.at(2), shard + ": 2.jpg: the file is empty");
  EXPECT_EQ(skip.notes->count(), 2);
}

// A shard that cannot be read is not a damaged image: a run would lose all its images without notice.
TEST_F(ShardsTest, AMissingShardStopsEvenIfImagesAreSkipped) {
  write();
  const auto images = open_dataset(options(), Split::train);
  const BadImageOptions skip{.treatment = OnBadImage::skip};
  const ImageLoader loader = loader_of(images, {.batch_size = 4}, 5, {}, 0, skip);
  fs::rename(root() / "train-000000.tar", root() / "elsewhere.tar");
  EXPECT_NE(test::thrown_message<std::runtime_error>([&] { batches_of(loader, 0); }).find("train-000000.tar"),
            std::string::npos);
  fs::copy_file(root() / "train-000001.tar", root() / "train-000000.tar");
  EXPECT_NE(test::thrown_message<std::runtime_error>([&] { batches_of(loader, 0); }).find("start the command again"),
            std::string::npos);
}

TEST_F(ShardsTest, RefuseWhatIsMissing) {
  EXPECT_NE(refusal().find("train-*.tar: no file matches this pattern of shards"), std::string::npos) << refusal();
  EXPECT_NE(refusal().find("data.train_shards"), std::string::npos) << refusal();
  write_shard("train-0.tar", {});
  EXPECT_NE(refusal().find("the shards have no samples"), std::string::npos) << refusal();
  write_shard("train-0.tar", {{"0.jpg", "x"}, {"0.cls", "3"}});
  EXPECT_NE(refusal().find("train-0.tar: the member '0.jpg' has the class 3, but there are 3 classes"),
            std::string::npos)
      << refusal();
  write_shard("train-0.tar", {{"0.jpg", "x"}, {"0.cls", "1"}, {"0.json", "{}"}, {"0.txt", "x"}});
  EXPECT_NE(refusal().find("the member '0.json' is neither an image (.jpg, .jpeg, .jpe, .jfif, .png) nor a class "
                           "(.cls) (and neither is 1 other); to skip such members, set data.skip_other_files = true"),
            std::string::npos)
      << refusal();
  DatasetOptions skipping = options();
  skipping.folders.skip_other_files = true;
  const auto images = open_dataset(skipping, Split::train);
  EXPECT_EQ(images->size(), 1);
  EXPECT_EQ(images->passed_over()->count(), 2);
  test::write_bytes(root() / "classes.txt", "a\nb\n");
  EXPECT_NE(refusal(Split::train, skipping).find("classes.txt: has 2 class names, but data.classes is 3"),
            std::string::npos);
}

TEST_F(ShardsTest, AMemberWithoutAUsableKeyIsExplained) {
  write_shard("train-0.tar", {{"a.b.jpg", "x"}, {"a.b.cls", "1"}});
  EXPECT_NE(refusal().find("the member 'a.b.jpg' has the key 'a', because a key ends at the first dot"),
            std::string::npos)
      << refusal();
  EXPECT_EQ(refusal().find("skip_other_files"), std::string::npos) << refusal();
  write_shard("train-0.tar", {{"a.jpg", "x"}, {"a.mask.png", "x"}, {"a.cls", "1"}});
  EXPECT_NE(refusal().find("'a.mask.png' is neither an image"), std::string::npos) << refusal();
  for (const char* name : {"__MACOSX/._x.jpg", "._x.jpg", "a/.cls"}) {
    write_shard("train-0.tar", {{"x.jpg", "x"}, {"x.cls", "1"}, {name, "x"}});
    EXPECT_NE(refusal().find("has a name that begins with a dot"), std::string::npos) << refusal();
  }
  DatasetOptions skipping = options();
  skipping.folders.skip_other_files = true;
  EXPECT_EQ(open_dataset(skipping, Split::train)->size(), 1);
  write_shard("train-0.tar", {{"a.b.jpg", "x"}, {"a.b.cls", "1"}});
  EXPECT_NE(refusal(Split::train, skipping).find("no samples, only 2 other members such as "), std::string::npos);
}

TEST_F(ShardsTest, AnErrorNamesOnlyTheKeysOfItsShards) {
  DatasetOptions three = options();
  three.shards.test_shards = "test-*.tar";
  write_shard("train-0.tar", {{"0.jpg", "x"}, {"0.cls", "1"}});
  for (const Split split : {Split::train, Split::test}) {  // training, too: it would end without its test data
    const std::string message = refusal(split, three);
    EXPECT_NE(message.find("test-*.tar: no file matches this pattern"), std::string::npos) << message;
    EXPECT_NE(message.find("data.test_shards"), std::string::npos) << message;
    for (const char* other : {"data.train_shards", "data.validation_shards"})
      EXPECT_EQ(message.find(other), std::string::npos) << message;
  }
  EXPECT_NE(refusal(Split::validation, three).find("data.validation_shards"), std::string::npos);
  write_shard("train-0.tar", {{"0.jpg", "x"}});
  EXPECT_EQ(refusal().find("data."), std::string::npos) << refusal();
}

TEST_F(ShardsTest, ClassNamesMustDifferAndExist) {
  write_shard("train-0.tar", {{"0.jpg", "x"}, {"0.cls", "1"}});
  test::write_bytes(root() / "classes.txt", "a\nb\na\n");
  EXPECT_NE(refusal().find("classes.txt:3: the name 'a' is also in line 1"), std::string::npos) << refusal();
  test::write_bytes(root() / "classes.txt", "\n");
  EXPECT_NE(refusal().find("classes.txt: is empty; write one class name in each line, or remove the file"),
            std::string::npos)
      << refusal();
}

TEST_F(ShardsTest, AShardIsNotLargerThanItsSize) {
  for (const uint64_t size : {uint64_t{1}, kSmallShard, 2 * kSmallShard}) {
    fs::remove_all(root());
    fs::create_directory(root());
    const WrittenShards written = write_shards(root(), "train", *of_folders(Split::train), size, {.shuffles = false});
    int64_t shards = 0;
    uint64_t bytes = 0;
    for (const auto& entry : fs::directory_iterator(root())) {
      EXPECT_LE(entry.file_size(), std::max(size, kSmallShard));
      bytes += entry.file_size();
      ++shards;
    }
    EXPECT_EQ(shards, written.shards);
    EXPECT_EQ(bytes, written.bytes);
    EXPECT_EQ(shards == 15, size == 1) << "an image that alone needs more is a shard of its own";
  }
}

TEST_F(ShardsTest, OtherEntriesOfAFolderAreFound) {
  write();
  open_dataset(options(), Split::train);  // writes the indices
  EXPECT_EQ(entry_other_than_shards(root()), std::nullopt);
  for (const char* name : {"photos", "train-000000.tar.bak", "train.tar", "extra-000000.tar", "train-00000x.tar",
                           ".git", "classes.txt.index", "train-1.tar"}) {
    test::write_bytes(root() / name, "x");
    EXPECT_EQ(entry_other_than_shards(root()), name);
    fs::remove(root() / name);
  }
  fs::create_directory(root() / "test-000000.tar");
  fs::create_directory(root() / "z");
  EXPECT_EQ(entry_other_than_shards(root()), "test-000000.tar");
}

TEST_F(ShardsTest, ClassesAreMatchedByName) {
  write();
  DatasetOptions other = options();
  other.class_names = {"dog", "eel", "ant", "cat"};
  other.classes = 4;
  EXPECT_EQ(open_dataset(other, Split::test)->labels().values(), (std::vector<int64_t>{2, 2, 3, 3, 0, 0}));
}

TEST_F(ShardsTest, OverlapsOfSplitsAreFound) {
  write();
  fs::copy_file(root() / "train-000000.tar", root() / "val-999999.tar");
  const auto train = open_dataset(options(), Split::train), test = open_dataset(options(), Split::test);
  const SplitOverlap overlap = image_overlap(train->images(), test->images(), "test");
  const SplitOverlap of_files = image_overlap(of_folders(Split::train)->images(), test->images(), "test");
  EXPECT_EQ(overlap.shared, of_files.shared);
  EXPECT_GE(overlap.shared, train->images().shard_sizes()[0]);
}

TEST_F(ShardsTest, SeveralThreadsReadMoreShardsThanAreOpen) {
  for (int i = 0; i < 150; ++i)
    write_shard("train-" + std::to_string(1000 + i) + ".tar",
                {{"0.jpg", test::jpeg_file(8 + i % 3, 8)}, {"0.cls", std::to_string(i % 3)}});
  const auto images = open_dataset(options(), Split::train);
  ASSERT_EQ(images->size(), 150);
  const auto options = EqualBatchOptions{.batch_size = 10, .seed = 1};
  test::expect_equal_batches(batches_of(loader_of(images, options, 150, {}, 4), 0),
                             batches_of(loader_of(images, options, 150), 0));
}

TEST_F(ShardsTest, TheWriterGivesEqualBytes) {
  write();
  std::vector<std::string> first;
  for (const char* name : {"train-000000.tar", "train-000001.tar", "val-000000.tar", "classes.txt"})
    first.push_back(test::read_bytes(root() / name));
  fs::remove_all(root());
  fs::create_directory(root());
  write();
  size_t i = 0;
  for (const char* name : {"train-000000.tar", "train-000001.tar", "val-000000.tar", "classes.txt"})
    EXPECT_EQ(test::read_bytes(root() / name), first[i++]) << name;
}

TEST_F(ShardsTest, TheSpeedOfALoaderIsMeasured) {
  write();
  const auto images = open_dataset(options(), Split::train);
  const auto order =
      std::make_shared<WindowedBatches>(images->images().shard_sizes(), 10, EqualBatchOptions{.batch_size = 4});
  int64_t measured = 0;
  const auto speeds = measure_loader(images, small_crops(), order, {{1, 2}, 0.01, 3},
                                     [&](int64_t done) { EXPECT_EQ(done, ++measured); });
  EXPECT_EQ(measured, 6);
  ASSERT_EQ(speeds.size(), 2u);
  for (const LoaderSpeed& speed : speeds) {
    ASSERT_EQ(speed.images_per_second.size(), 3u);
    for (const double rate : speed.images_per_second) EXPECT_GT(rate, 0);
  }
}

}  // namespace
}  // namespace cachet::data
